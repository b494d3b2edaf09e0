//! The parser, asked in the three ways that a cell needs: as the body of an async function, as a
//! module, and as TypeScript.

use oxc_allocator::Allocator;
use oxc_ast::ast::{ArrowFunctionBody, Expression, FunctionBody, Program, Statement};
use oxc_diagnostics::{Diagnostics, OxcDiagnostic};
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_span::SourceType;

/// What stands before the body of a cell in a script: exactly one line.
pub(crate) const HEAD: &str = "(async () => {\n";
/// What stands after it. On a line of its own, so that a trailing comment does not swallow it.
pub(crate) const TAIL: &str = "\n})";

/// The first thing that is wrong with a text. The offset is one of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub message: String,
    pub offset: u32,
}

/// A cell that is the body of one async arrow function, and nothing else.
pub(crate) struct Cell<'a> {
    pub body: &'a FunctionBody<'a>,
    pub scoping: Scoping,
}

/// Spans of a [`Cell`] are those of the script; those of the body start here.
pub(crate) const BODY_START: u32 = HEAD.len() as u32;

/// Parses `text` as the body of an async function in sloppy mode.
///
/// The whole script is parsed, so that the parser itself judges whether the text stays inside.
pub(crate) fn cell<'a>(allocator: &'a Allocator, text: &str) -> Result<Cell<'a>, SyntaxError> {
    let script = allocator.alloc_concat_strs_array([HEAD, text, TAIL]);
    let parsed = Parser::new(allocator, script, SourceType::script()).parse();
    let inside = |error: SyntaxError| {
        let end = text.len() as u32;
        match error.offset.checked_sub(BODY_START) {
            Some(offset) if offset < end => SyntaxError { offset, ..error },
            _ => SyntaxError { message: "Unexpected end of the program".into(), offset: end },
        }
    };
    if let Some(error) = first_error(&parsed.diagnostics) {
        return Err(inside(error));
    }
    let program: &'a Program<'a> = allocator.alloc(parsed.program);
    let Some(body) = only_arrow(program, script.len() as u32) else {
        return Err(escape_error(allocator, text));
    };
    let built = SemanticBuilder::new_compiler().build(program);
    if let Some(error) = first_error(&built.diagnostics) {
        return Err(inside(error));
    }
    Ok(Cell { body, scoping: built.semantic.into_scoping() })
}

/// The body of the wrapper, if the script is the wrapper.
fn only_arrow<'a>(program: &'a Program<'a>, end: u32) -> Option<&'a FunctionBody<'a>> {
    let [Statement::ExpressionStatement(statement)] = program.body.as_slice() else { return None };
    let Expression::ParenthesizedExpression(parens) = &statement.expression else { return None };
    let Expression::ArrowFunctionExpression(arrow) = &parens.expression else { return None };
    let whole = program.directives.is_empty() && parens.span.start == 0 && parens.span.end == end;
    match &arrow.body {
        ArrowFunctionBody::FunctionBody(body) if whole && body.span.end + 1 == end => Some(body),
        _ => None,
    }
}

/// The text closed the function that it is the body of: alone, it does not parse.
fn escape_error(allocator: &Allocator, text: &str) -> SyntaxError {
    match module(allocator, text, SourceType::mjs()) {
        Err(error) => error,
        Ok(_) => SyntaxError { message: "Unbalanced brace".into(), offset: 0 },
    }
}

/// Parses `text` as a module, which is where `import` and `export` are grammar; `return` and
/// `await` are allowed at the top level.
pub(crate) fn module<'a>(
    allocator: &'a Allocator,
    text: &str,
    source_type: SourceType,
) -> Result<Program<'a>, SyntaxError> {
    let text = allocator.alloc_str(text);
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed =
        Parser::new(allocator, text, source_type.with_module(true)).with_options(options).parse();
    match first_error(&parsed.diagnostics) {
        Some(error) => Err(error),
        None => Ok(parsed.program),
    }
}

/// The error that comes first in the text.
pub(crate) fn first_error(diagnostics: &Diagnostics) -> Option<SyntaxError> {
    diagnostics.errors().map(SyntaxError::from).min_by_key(|e| e.offset)
}

impl From<&OxcDiagnostic> for SyntaxError {
    fn from(diagnostic: &OxcDiagnostic) -> Self {
        // The last label of "already declared" is the second declaration; of all others the first.
        let labels = &diagnostic.labels;
        let label = if diagnostic.message.contains("already been declared") {
            labels.last()
        } else {
            labels.first()
        };
        Self {
            message: diagnostic.message.to_string(),
            offset: label.map_or(0, oxc_diagnostics::LabeledSpan::offset),
        }
    }
}
