//! The front door: what a model sent -> a script that the engine can run, or a refusal that says
//! what to send instead.
//!
//! JavaScript runs as it was sent, but for text edits that are listed in [`prepare`]; TypeScript is
//! stripped, not checked. Every position leads back to the text that was sent ([`PositionMap`]).

mod cell;
mod dialect;
mod envelope;
mod exports;
mod fence;
mod findings;
mod front;
mod guard;
mod hints;
mod map;
mod merged;
mod offsets;
mod parse;
mod places;
mod refusal;
mod regexes;
mod shell;
mod typescript;

pub use front::prepare;
pub use map::PositionMap;
pub use refusal::Refusal;
pub use regexes::{Regex, regexes};

/// Longest text of a cell, in bytes.
pub const MAX_SOURCE_BYTES: usize = 256 * 1024;

/// What the caller says about a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// It was sent as TypeScript; else as JavaScript.
    pub typescript: bool,
    /// JavaScript is enabled.
    pub allow_javascript: bool,
    /// TypeScript is enabled.
    pub allow_typescript: bool,
}

/// A cell that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// A sloppy-mode script whose completion value is an async function of no arguments: the cell.
    /// Its first line is only the head of that function: line 2 of the script is line 1 of the
    /// body. The engine counts lines from 1 on, so a line of the body is one less than it reports.
    pub script: String,
    /// What the model should know about how its text was read.
    pub warnings: Vec<String>,
    /// Positions in the body, which are not those in the script -> positions in the text sent.
    pub map: PositionMap,
}
