//! The VM that runs guest code: one per process, in an arena at a fixed address, so that its
//! whole state can be copied out as bytes between two turns and put back in another process.
//!
//! Use: [`build_template`] once, fork, then in the child either [`start`] or [`resume`], any
//! number of [`settle`], perhaps [`suspend`]. One thread only.

mod arena;
mod bridge;
mod cell;
mod elders;
mod failure;
mod image;
mod js;
mod leg;
mod outcome;
mod pack;
#[cfg(codemode_sanitize)]
mod sanitize;
mod single;
mod snapshot;
mod template;
mod tools;
mod values;
mod vm;

pub use arena::{MapError, fail_after};
pub use image::RestoreError;
pub use leg::{rehearse, resume, settle, start, suspend};
#[doc(hidden)]
pub use snapshot::inspect;
pub use snapshot::{template_bytes, template_hash, words_into};
pub use template::{TemplateError, build_template};
pub use vm::{ExhaustionHandler, Fetcher, monotonic_ns, on_exhaustion, reset};
