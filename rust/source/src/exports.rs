//! `export` in a cell: nobody imports from it, so the word is taken away.

use oxc_ast::ast::{ExportDefaultDeclarationKind, Program, Statement};
use oxc_span::GetSpan;

use crate::offsets::Edit;

pub(crate) const DROPPED: &str =
    "`export` has no effect here and was ignored: return what the cell should give.";

/// The edits that turn exports into plain statements, and whether anything other than
/// `export default` was among them. Exports that load a module are refused before this.
pub(crate) fn edits(program: &Program<'_>) -> (Vec<Edit>, bool) {
    let mut edits = Vec::new();
    let mut named = false;
    for statement in &program.body {
        match statement {
            Statement::ExportDeclaration(export) => {
                named = true;
                edits.push(Edit::replace(export.span.start, export.declaration.span().start, ""));
            }
            Statement::ExportNamedDeclaration(export) => {
                named |= !export.specifiers.is_empty();
                edits.push(Edit::replace(export.span.start, export.span.end, ";"));
            }
            Statement::ExportDefaultDeclaration(export) => {
                let start = export.span.start;
                let inner = export.declaration.span();
                let is_statement = match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(f) => f.id.is_some(),
                    ExportDefaultDeclarationKind::ClassDeclaration(c) => c.id.is_some(),
                    _ => false,
                };
                if is_statement {
                    edits.push(Edit::replace(start, inner.start, ""));
                } else {
                    edits.push(Edit::replace(start, inner.start, ";("));
                    // A function needs no semicolon; what it became must not be called by the next line.
                    edits.push(Edit::insert(inner.end, ");"));
                }
            }
            _ => {}
        }
    }
    (edits, named)
}
