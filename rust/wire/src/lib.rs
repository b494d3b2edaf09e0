//! What host and worker say to each other: frames and values.
//!
//! Both sides treat the other's bytes as hostile: lengths are checked before anything is
//! allocated, counts against the bytes that are there, text for UTF-8, depth against
//! [`MAX_DEPTH`]. No I/O, no JavaScript, no Python here.

pub mod frame;
pub mod json;
pub mod value;

pub use frame::{
    Failed, Fetch, FetchKind, Finished, FromWorker, Leg, Request, Resume, Settlement, Start,
    Suspended, ToWorker,
};
pub use value::{Decoder, Encoder, Event, MAX_SAFE_INTEGER, Open, Tag};

/// Name of this protocol: two programs understand each other if they have the same one.
pub const PROTOCOL: &str = env!("CODEMODE_PROTOCOL");

/// What is wrong with programs that do not, and what to do about it.
pub const OTHER_BUILD: &str = "worker and extension are from different builds: reinstall codemode";

/// The head of a request for a worker: `F` and a part of [`PROTOCOL`].
pub const fn fork_head() -> [u8; 4] {
    let name = PROTOCOL.as_bytes();
    let n = name.len();
    [b'F', name[n - 3], name[n - 2], name[n - 1]]
}

/// Deepest nesting of arrays and objects in a value that crosses the border.
pub const MAX_DEPTH: usize = 512;

/// Largest frame, in bytes, whatever the limits of a cell are.
pub const MAX_FRAME: usize = 320 << 20;

/// Most nested calls that one cell may have outstanding, queued ones included.
pub const MAX_OUTSTANDING: usize = 4096;

/// Most values that a worker may send in one frame, those inside of others counted: each becomes
/// an object of the host, which is many times as large as its bytes.
pub const MAX_VALUES: usize = 1 << 19;

/// Longest operation, target of a call, or argument of a question, in bytes.
pub const MAX_TARGET: usize = 64 << 10;

/// What the host is taken to need for each value of an input besides its bytes, in bytes.
pub const VALUE_COST: usize = 32;

/// Most that the inputs and targets of the calls which a cell has outstanding may take, in bytes, with
/// [`VALUE_COST`].
pub const MAX_HELD: usize = 64 << 20;

/// Most that the output items of one leg may take, in bytes of wire, under this limit of bytes of
/// JSON: the least item is counted as two.
pub const fn max_items_len(max_output: u64) -> usize {
    max_output.saturating_mul(16).saturating_add(1 << 19) as usize
}

/// Most that all of one leg which goes on to the model may take, in bytes of wire: output items, the
/// value, and texts.
pub const fn max_text_len(max_output: u64) -> usize {
    max_items_len(max_output).saturating_add(max_output.saturating_mul(4) as usize + (1 << 20))
}

/// Most output items, and most warnings, in one turn: more than the largest output budget has
/// room for.
pub const MAX_ITEMS: usize = 1 << 19;

/// Why bytes from the other side were refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes end before the value does, or a count promises more than is there.
    #[error("the frame is shorter than it says")]
    Truncated,
    /// Nesting beyond [`MAX_DEPTH`].
    #[error("the value is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// A frame above the limit set for it.
    #[error("a frame of {len} bytes is over the limit of {max}")]
    TooLarge {
        /// Announced length.
        len: usize,
        /// Limit in force.
        max: usize,
    },
    /// Something that this protocol never says.
    #[error("malformed frame: {0}")]
    Malformed(&'static str),
}
