//! What is said when a cell is not run.

use crate::map::Lines;

/// Why a cell is not run, and what to send instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// One text for the model.
    pub message: String,
    /// Line and column in the text that was sent; both 1-based, the column in code points.
    pub location: Option<(u32, u32)>,
    /// The text is too long, or nested too deeply, for any program.
    pub source_limit: bool,
}

pub(crate) const SHELL: &str = "This looks like a shell command. exec runs JavaScript or TypeScript, \
    not shell; do not retry this command as code. To run commands, look for a tool: \
    await tools.search(\"run shell command\"), then await tools.callValue(id, input).";

pub(crate) const MODULES: &str = "Module access is disabled: there is no import and no require. \
    Use tools.callValue(id, input) and the other built-in globals instead.";

pub(crate) const EMPTY: &str = "The cell is empty: send JavaScript or TypeScript statements, and \
    return a value.";

pub(crate) const CODE_ONLY: &str = "Send code only: one program, without markdown fences and \
    without text before or after it.";

pub(crate) const WRAPPED: &str = "The cell is an object that holds a program. Send the program \
    itself as `code`, not JSON around it.";

pub(crate) const DECORATORS: &str = "Decorators cannot run here. Call the function that decorates \
    directly, for example: const C = decorate(class { … }).";

pub(crate) const ACCESSOR: &str = "Fields with the keyword `accessor` cannot run here. Write a plain \
    field, or `get` and `set`.";

pub(crate) const EXPORT_ASSIGNMENT: &str = "`export =` has no effect here: return what the cell \
    should give.";

impl Refusal {
    pub(crate) fn plain(message: impl Into<String>) -> Self {
        Self { message: message.into(), location: None, source_limit: false }
    }

    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self { source_limit: true, ..Self::plain(message) }
    }

    /// `offset` is one of the text that was sent.
    pub(crate) fn at(message: &str, sent: &str, offset: u32) -> Self {
        let (line, column) = Lines::new(sent).position(sent, offset);
        Self {
            message: format!("{message} (line {line}, column {column})"),
            location: Some((line, column)),
            source_limit: false,
        }
    }
}

/// A tool call in JSON: the program that makes the call. `input` is written as an object.
pub(crate) fn tool_call(tool: &str, input: Option<&str>) -> Refusal {
    // What is long is known to the model anyway.
    let input = input.filter(|text| text.len() <= 200).unwrap_or("input");
    let tool: String = tool.chars().take(200).collect();
    Refusal::plain(format!(
        "The cell is a tool call in JSON, and nothing was called. Send a program that makes the \
         call, for example: return await tools.callValue({tool:?}, {input});"
    ))
}
