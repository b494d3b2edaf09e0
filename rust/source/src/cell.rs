//! What the body of a cell returns, where the model did not say so.

use oxc_ast::ast::{
    BinaryOperator, BindingPattern, Expression, FormalParameters, Function, FunctionBody,
    IdentifierReference, Statement,
};
use oxc_ast_visit::VisitJs;
use oxc_semantic::{Scoping, SymbolId};
use oxc_span::{GetSpan, Span};

use crate::offsets::Edit;
use crate::parse::{BODY_START, Cell};
use crate::shell;

pub(crate) const UNCALLED: &str = "The program returns a function that was never called; put its \
    statements at top level, or call it.";

pub(crate) const EMPTY_RETURN: &str = "`return` at the end of a line returns nothing: what it should \
    return begins on the same line";

/// Said of parameters that cannot be known to be globals.
pub(crate) fn asks_for(names: &[String]) -> String {
    format!(
        "A cell gets no arguments. Each parameter of the function that was called is the global of \
         its name, or undefined if there is none: {}. Use the globals: tools, text, json.",
        names.join(", ")
    )
}

/// What makes a cell give a result.
#[derive(Default)]
pub(crate) struct Results {
    /// Offsets are those of the body.
    pub edits: Vec<Edit>,
    /// Parameters of the function that is called which not every cell has a global for.
    pub asked: Vec<String>,
}

impl From<Option<(Edit, Vec<String>)>> for Results {
    fn from(call: Option<(Edit, Vec<String>)>) -> Self {
        call.map_or_else(Self::default, |(edit, asked)| Self { edits: vec![edit], asked })
    }
}

/// Makes the last expression, or the one function, the result. `main` is the function that was
/// exported to be called.
pub(crate) fn results(cell: &Cell<'_>, main: Option<&str>) -> Results {
    let body = cell.body;
    if let Some(call) = main.and_then(|name| exported_call(cell, name)) {
        return Some(call).into();
    }
    let plain = |edits| Results { edits, asked: Vec::new() };
    let Some(last) = last_evaluated(&body.statements) else {
        return match body.directives.last() {
            // A text alone is a directive to the parser and a value to the model.
            Some(text) if body.statements.is_empty() => {
                plain(vec![Edit::insert(at(text.span.start), "return ")])
            }
            _ => uncalled_function(cell).into(),
        };
    };
    match last {
        Statement::ExpressionStatement(statement) => {
            let start = at(statement.span.start);
            let mut called = call(&statement.expression).unwrap_or_default();
            called.edits.insert(0, Edit::insert(start, "return "));
            called
        }
        Statement::BlockStatement(block) if is_object_literal(&block.body) => plain(vec![
            Edit::insert(at(block.span.start), "return ("),
            Edit::insert(at(block.span.end), ")"),
        ]),
        _ => uncalled_function(cell).into(),
    }
}

/// Calls the function that is returned by the only statement of a cell.
pub(crate) fn only_returned_function(cell: &Cell<'_>) -> Option<Results> {
    let mut statements = cell.body.statements.iter().filter(|s| !is_hoisted(s));
    let Some(Statement::ReturnStatement(only)) = statements.next() else { return None };
    let called = call(only.argument.as_ref()?)?;
    statements.next().is_none().then_some(called)
}

/// Calls what is written as a function.
fn call(function: &Expression<'_>) -> Option<Results> {
    let parameters = function_expression(function)?;
    let Span { start, end, .. } = function.span();
    let edits = vec![
        Edit::insert(at(start), "("),
        Edit::insert(at(end), format!(")({})", arguments(parameters))),
    ];
    Some(Results { edits, asked: asked(parameters) })
}

/// Offset in the script -> offset in the body.
pub(crate) fn at(offset: u32) -> u32 {
    offset.saturating_sub(BODY_START)
}

/// The last statement that does something where it stands: function declarations are hoisted, so
/// what stands before them is still the end of the program.
fn last_evaluated<'b, 'a>(statements: &'b [Statement<'a>]) -> Option<&'b Statement<'a>> {
    statements.iter().rev().find(|s| !is_hoisted(s))
}

/// Does nothing where it stands.
fn is_hoisted(statement: &Statement<'_>) -> bool {
    matches!(statement, Statement::EmptyStatement(_) | Statement::FunctionDeclaration(_))
}

/// A function that can be called for its result: an arrow or a function, not a generator.
pub(crate) fn function_expression<'b, 'a>(
    e: &'b Expression<'a>,
) -> Option<&'b FormalParameters<'a>> {
    match e.without_parentheses() {
        Expression::ArrowFunctionExpression(f) => Some(&f.params),
        Expression::FunctionExpression(f) if !f.generator => Some(&f.params),
        _ => None,
    }
}

/// A parameter is most likely meant to be the global of its name, and a destructured one all of
/// them: `async ({ tools }) => …`.
fn arguments(parameters: &FormalParameters<'_>) -> String {
    let globals: Vec<String> = parameters
        .items
        .iter()
        .map(|p| match &p.pattern {
            BindingPattern::BindingIdentifier(id) => format!("globalThis.{}", id.name),
            BindingPattern::ObjectPattern(_) => "globalThis".into(),
            _ => "undefined".into(),
        })
        .collect();
    globals.join(", ")
}

/// The names of parameters without a default that not every cell has a global for.
fn asked(parameters: &FormalParameters<'_>) -> Vec<String> {
    const EVERYWHERE: &[&str] =
        &["tools", "ALL_TOOLS", "API", "namespaces", "text", "json", "yield_control", "console"];
    parameters
        .items
        .iter()
        .filter(|p| p.initializer.is_none())
        .flat_map(|p| match &p.pattern {
            BindingPattern::BindingIdentifier(id) => vec![id.name.to_string()],
            BindingPattern::ObjectPattern(pattern) => pattern
                .properties
                .iter()
                .filter(|p| !matches!(p.value, BindingPattern::AssignmentPattern(_)))
                .filter_map(|p| Some(p.key.static_name()?.into_owned()))
                .collect(),
            _ => Vec::new(),
        })
        .filter(|name| !EVERYWHERE.contains(&name.as_str()))
        .collect()
}

/// `{ a: 1 }` or `{ a, b }` where a statement is expected: a block that can only mean an object.
fn is_object_literal(block: &[Statement<'_>]) -> bool {
    let [only] = block else { return block.is_empty() };
    let (statement, labelled) = match only {
        Statement::LabeledStatement(label) => (&label.body, true),
        other => (other, false),
    };
    let Statement::ExpressionStatement(statement) = statement else { return false };
    let expression = &statement.expression;
    let names = match expression {
        Expression::Identifier(_) => true,
        Expression::SequenceExpression(s) => {
            s.expressions.iter().all(|e| matches!(e, Expression::Identifier(_)))
        }
        _ => false,
    };
    (labelled || names) && expression.span().end == statement.span.end
}

/// A function at the top level of a cell that consists of declarations.
struct Candidate<'b, 'a> {
    name: &'b str,
    symbol: SymbolId,
    span: Span,
    parameters: &'b FormalParameters<'a>,
}

/// A cell of declarations of which exactly one function is used by nothing: that one is called.
fn uncalled_function(cell: &Cell<'_>) -> Option<(Edit, Vec<String>)> {
    let only_declarations = cell.body.statements.iter().all(|s| {
        matches!(s, Statement::VariableDeclaration(_) | Statement::ClassDeclaration(_))
            || is_hoisted(s)
    });
    if !only_declarations {
        return None;
    }
    let candidates = candidates(cell);
    let used = uses(cell, &candidates);
    let mut unused = candidates.iter().zip(used).filter(|(_, by)| by.is_empty()).map(|(c, _)| c);
    let first = unused.next()?;
    let chosen = match unused.next() {
        None => first,
        Some(second) => [first, second].into_iter().chain(unused).find(|c| c.name == "main")?,
    };
    final_call(cell, chosen)
}

/// The call of a function that was exported, unless the program calls it itself: what runs names it,
/// or names a function that does.
fn exported_call(cell: &Cell<'_>, name: &str) -> Option<(Edit, Vec<String>)> {
    let candidates = candidates(cell);
    let exported = candidates.iter().position(|c| c.name == name)?;
    let mut named_by = vec![Vec::new(); candidates.len()];
    let mut running = Vec::new();
    for (named, uses) in uses(cell, &candidates).iter().enumerate() {
        for &place in uses {
            match candidates.iter().position(|c| c.span.contains_inclusive(place)) {
                Some(function) => named_by[function].push(named),
                None => running.push(named),
            }
        }
    }
    let mut runs = vec![false; candidates.len()];
    while let Some(function) = running.pop() {
        if !std::mem::replace(&mut runs[function], true) {
            running.append(&mut named_by[function]);
        }
    }
    if runs[exported] { None } else { final_call(cell, &candidates[exported]) }
}

/// At the end, where everything is declared; with what the function asks for.
fn final_call(cell: &Cell<'_>, function: &Candidate<'_, '_>) -> Option<(Edit, Vec<String>)> {
    let end = at(cell.body.statements.last()?.span().end);
    let arguments = arguments(function.parameters);
    let edit = Edit::insert(end, format!("\n;return {}({arguments});", function.name));
    Some((edit, asked(function.parameters)))
}

fn candidates<'b, 'a>(cell: &'b Cell<'a>) -> Vec<Candidate<'b, 'a>> {
    let mut candidates = Vec::new();
    for statement in &cell.body.statements {
        match statement {
            Statement::FunctionDeclaration(f) => candidates.extend(declared(f)),
            Statement::VariableDeclaration(v) => {
                for d in &v.declarations {
                    if let BindingPattern::BindingIdentifier(id) = &d.id
                        && let Some(symbol) = id.symbol_id.get()
                        && let Some(parameters) = d.init.as_ref().and_then(function_expression)
                    {
                        let name = id.name.as_str();
                        candidates.push(Candidate { name, symbol, span: d.span, parameters });
                    }
                }
            }
            _ => {}
        }
    }
    candidates
}

/// Where each candidate is named outside of itself.
fn uses(cell: &Cell<'_>, candidates: &[Candidate<'_, '_>]) -> Vec<Vec<Span>> {
    let at = vec![Vec::new(); candidates.len()];
    let mut uses = Uses { scoping: &cell.scoping, candidates, at };
    uses.visit_function_body(cell.body);
    uses.at
}

fn declared<'b, 'a>(f: &'b Function<'a>) -> Option<Candidate<'b, 'a>> {
    let id = f.id.as_ref().filter(|_| !f.generator)?;
    let symbol = id.symbol_id.get()?;
    Some(Candidate { name: id.name.as_str(), symbol, span: f.span, parameters: &f.params })
}

struct Uses<'u, 'b, 'a> {
    scoping: &'u Scoping,
    candidates: &'u [Candidate<'b, 'a>],
    at: Vec<Vec<Span>>,
}

impl<'a> VisitJs<'a> for Uses<'_, '_, '_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        let symbol = it.reference_id.get().and_then(|r| self.scoping.get_reference(r).symbol_id());
        let Some(symbol) = symbol else { return };
        if let Some(i) = self.candidates.iter().position(|c| c.symbol == symbol)
            && !self.candidates[i].span.contains_inclusive(it.span)
        {
            self.at[i].push(it.span);
        }
    }
}

/// The command that a program consists of by accident: `ls -la` is a subtraction, `pwd` a name.
/// Nothing declares the name, so that running it could only fail.
pub(crate) fn shell_word(cell: &Cell<'_>) -> bool {
    let Some(Statement::ExpressionStatement(first)) = cell.body.statements.first() else {
        return false;
    };
    let mut leftmost = &first.expression;
    loop {
        leftmost = match leftmost {
            Expression::BinaryExpression(e) => {
                if let (Expression::Identifier(verb), Expression::Identifier(noun)) =
                    (&e.left, &e.right)
                    && e.operator == BinaryOperator::Subtraction
                    && shell::is_cmdlet(&verb.name, &noun.name)
                {
                    return !verb.reference_id.get().is_some_and(|r| cell.scoping.has_binding(r));
                }
                &e.left
            }
            Expression::LogicalExpression(e) => &e.left,
            Expression::SequenceExpression(e) => match e.expressions.first() {
                Some(e) => e,
                None => return false,
            },
            Expression::Identifier(id) => {
                let bound = id.reference_id.get().is_some_and(|r| cell.scoping.has_binding(r));
                return !bound && shell::is_command(&id.name);
            }
            _ => return false,
        };
    }
}

/// Nothing but comments and semicolons.
pub(crate) fn is_empty(body: &FunctionBody<'_>) -> bool {
    body.directives.is_empty()
        && body.statements.iter().all(|s| matches!(s, Statement::EmptyStatement(_)))
}
