//! Cells that hold a program, or a call, in an object instead of being one.

use std::borrow::Cow;

use oxc_ast::ast::{Expression, ObjectExpression, ObjectPropertyKind, Statement};
use oxc_span::{GetSpan, Span};

use crate::cell::at;
use crate::parse::Cell;

/// A cell that is what a program was packed into.
pub(crate) enum Envelope {
    /// `{"code": "return 1"}`: the arguments of the call instead of the program.
    Program,
    /// `{"tool": "get", "input": {}}`: a call that is not written as a program. The name of the tool,
    /// and where its input is in the body.
    Call(String, Option<Span>),
}

pub(crate) fn find(cell: &Cell<'_>) -> Option<Envelope> {
    let object = match cell.body.statements.as_slice() {
        [Statement::ExpressionStatement(only)] => match only.expression.without_parentheses() {
            Expression::ObjectExpression(object) => object,
            _ => return None,
        },
        // `{ code: "return 1" }` is a block with a label to the parser.
        [Statement::BlockStatement(block)] => {
            let [Statement::LabeledStatement(only)] = block.body.as_slice() else { return None };
            let Statement::ExpressionStatement(value) = &only.body else { return None };
            return holds_program(&only.label.name, &value.expression).then_some(Envelope::Program);
        }
        _ => return None,
    };
    let properties = properties(object)?;
    let arguments = |name: &str| matches!(name, "code" | "command" | "language" | "restartSafe");
    let is_program = match properties.as_slice() {
        [(name, value)] => holds_program(name, value),
        several => {
            several.iter().all(|(name, _)| arguments(name))
                && several
                    .iter()
                    .any(|(name, v)| matches!(&**name, "code" | "command") && is_text(v))
        }
    };
    if is_program { Some(Envelope::Program) } else { tool_call(&properties) }
}

/// Whether a property that stands alone can only be a program.
fn holds_program(name: &str, value: &Expression<'_>) -> bool {
    match name {
        "code" | "command" => is_text(value),
        "script" | "program" | "source" | "js" | "javascript" | "ts" | "typescript" => {
            match value {
                Expression::StringLiteral(_) => true,
                // What is filled in comes from a program around it.
                Expression::TemplateLiteral(template) => template.expressions.is_empty(),
                _ => false,
            }
        }
        _ => false,
    }
}

fn is_text(value: &Expression<'_>) -> bool {
    matches!(value, Expression::StringLiteral(_) | Expression::TemplateLiteral(_))
}

type Properties<'b, 'a> = Vec<(Cow<'b, str>, &'b Expression<'a>)>;

/// The properties of an object of which all names are known.
fn properties<'b, 'a>(object: &'b ObjectExpression<'a>) -> Option<Properties<'b, 'a>> {
    let property = |property: &'b ObjectPropertyKind<'a>| match property {
        ObjectPropertyKind::ObjectProperty(p) => Some((p.key.static_name()?, &p.value)),
        ObjectPropertyKind::SpreadProperty(_) => None,
    };
    object.properties.iter().map(property).collect()
}

/// A name and an input, as the APIs of language models spell them; any other property makes it data.
fn tool_call(properties: &[(Cow<'_, str>, &Expression<'_>)]) -> Option<Envelope> {
    let (mut tool, mut input, mut inner) = (None, None, None);
    for (name, value) in properties {
        let taken = match (&**name, value) {
            ("type" | "id", _) => false,
            ("tool" | "name" | "tool_name" | "function", Expression::StringLiteral(text)) => {
                tool.replace(text.value.to_string()).is_some()
            }
            (
                "input" | "arguments" | "args" | "parameters" | "params",
                Expression::ObjectExpression(_) | Expression::StringLiteral(_),
            ) => input.replace(*value).is_some(),
            ("function", Expression::ObjectExpression(object)) => {
                inner.replace(self::properties(object)?).is_some()
            }
            _ => return None,
        };
        if taken {
            return None;
        }
    }
    match (tool, input, inner) {
        (Some(tool), Some(input), None) => {
            let is_object = matches!(input, Expression::ObjectExpression(_));
            let Span { start, end, .. } = input.span();
            Some(Envelope::Call(tool, is_object.then(|| Span::new(at(start), at(end)))))
        }
        (None, None, Some(inner)) => tool_call(&inner),
        _ => None,
    }
}
