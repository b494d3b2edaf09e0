//! `export` in a cell: nobody imports from it, so the word is taken away.

use oxc_ast::ast::{BindingPattern, Declaration, ExportDefaultDeclarationKind, Program, Statement};
use oxc_span::GetSpan;

use crate::cell;
use crate::offsets::Edit;

pub(crate) const DROPPED: &str =
    "`export` has no effect here and was ignored: return what the cell should give.";

/// What the exports of a program come to. Exports that load a module are refused before this.
#[derive(Default)]
pub(crate) struct Exports {
    /// Turn exports into plain statements.
    pub edits: Vec<Edit>,
    /// Whether anything other than a default was exported.
    pub named: bool,
    /// The function of the cell that is the default export.
    pub main: Option<String>,
}

pub(crate) fn find(program: &Program<'_>) -> Exports {
    let mut found = Exports::default();
    for statement in &program.body {
        let (start, end) = (statement.span().start, statement.span().end);
        match statement {
            Statement::ExportDeclaration(export) => {
                found.named = true;
                found.edits.push(Edit::replace(start, export.declaration.span().start, ""));
            }
            Statement::ExportNamedDeclaration(export) => {
                for specifier in &export.specifiers {
                    let local = specifier.local.name();
                    if specifier.exported.name() == "default" && is_function(program, &local) {
                        found.main = Some(local.to_string());
                    } else {
                        found.named = true;
                    }
                }
                found.edits.push(Edit::replace(start, end, ";"));
            }
            Statement::ExportDefaultDeclaration(export) => {
                let inner = export.declaration.span();
                let name = match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(f) => f.id.as_ref(),
                    ExportDefaultDeclarationKind::ClassDeclaration(c) => c.id.as_ref(),
                    _ => None,
                };
                if name.is_some() {
                    found.edits.push(Edit::replace(start, inner.start, ""));
                } else if let ExportDefaultDeclarationKind::Identifier(id) = &export.declaration
                    && is_function(program, &id.name)
                {
                    found.main = Some(id.name.to_string());
                    found.edits.push(Edit::replace(start, end, ";"));
                } else {
                    found.edits.push(Edit::replace(start, inner.start, ";("));
                    // A function needs no semicolon; what it became must not be called by the next
                    // line.
                    found.edits.push(Edit::insert(inner.end, ");"));
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether `name` is declared at the top level as a function that can be called for its result.
fn is_function(program: &Program<'_>, name: &str) -> bool {
    program.body.iter().any(|statement| {
        let declaration = match statement {
            Statement::ExportDeclaration(export) => Some(&export.declaration),
            other => other.as_declaration(),
        };
        match declaration {
            Some(Declaration::FunctionDeclaration(f)) => {
                !f.generator && f.id.as_ref().is_some_and(|id| id.name == name)
            }
            Some(Declaration::VariableDeclaration(v)) => v.declarations.iter().any(|d| {
                matches!(&d.id, BindingPattern::BindingIdentifier(id) if id.name == name)
                    && d.init.as_ref().is_some_and(|e| cell::function_expression(e).is_some())
            }),
            _ => false,
        }
    })
}
