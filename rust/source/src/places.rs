//! Places of statements that the engine does not mark.
//!
//! It keeps places of names, calls and operators only. What else may throw (taking a value apart,
//! iterating, reading a member of `this`) is reported at the last place before it, which belongs to
//! an earlier statement. `0;` in front of such a statement is a place, and the engine compiles it to
//! nothing.

use oxc_allocator::Vec as ArenaVec;
use oxc_ast::ast::{
    ArrayAssignmentTarget, ArrowFunctionExpression, BinaryExpression, CallExpression, Class,
    ComputedMemberExpression, Expression, ForStatementInit, ForStatementLeft, Function,
    IdentifierReference, NewExpression, ObjectAssignmentTarget, PrivateFieldExpression,
    SpreadElement, Statement, StaticMemberExpression, TaggedTemplateExpression,
    VariableDeclaration, YieldExpression,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::GetSpan;
use oxc_syntax::scope::ScopeFlags;

use crate::offsets::Edit;
use crate::parse::{BODY_START, Cell};

/// The edits that give every such statement of a cell its place. `result` is where the statement
/// starts that becomes the cell's result; both offsets are those of the body.
pub(crate) fn edits(cell: &Cell<'_>, result: Option<u32>) -> Vec<Edit> {
    let mut places = Places { result: result.map(|at| at + BODY_START), edits: Vec::new() };
    places.visit_function_body(cell.body);
    places.edits
}

struct Places {
    result: Option<u32>,
    edits: Vec<Edit>,
}

impl<'a> VisitJs<'a> for Places {
    fn visit_statements(&mut self, it: &ArenaVec<'a, Statement<'a>>) {
        for statement in it {
            let start = statement.span().start;
            let mut first = First(None);
            first.statement(statement, self.result == Some(start));
            if first.0 == Some(Event::MayThrow) {
                self.edits.push(Edit::insert(start - BODY_START, "0;"));
            }
            self.visit_statement(statement);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    Place,
    MayThrow,
}

/// What comes first in the code of a statement: something with a place, or something that may throw.
struct First(Option<Event>);

impl First {
    fn note(&mut self, event: Event) {
        self.0.get_or_insert(event);
    }

    fn statement(&mut self, statement: &Statement<'_>, is_result: bool) {
        match statement {
            Statement::VariableDeclaration(it) => self.variables(it),
            Statement::ReturnStatement(it) => self.optional(it.argument.as_ref()),
            // It loses its place to the `return` in front of it.
            Statement::ExpressionStatement(it) if is_result => {
                self.visit_expression(&it.expression);
            }
            Statement::IfStatement(it) => self.visit_expression(&it.test),
            Statement::WhileStatement(it) => self.visit_expression(&it.test),
            Statement::SwitchStatement(it) => self.visit_expression(&it.discriminant),
            Statement::ForStatement(it) => match &it.init {
                Some(ForStatementInit::VariableDeclaration(variables)) => self.variables(variables),
                init => {
                    let init = init.as_ref().and_then(ForStatementInit::as_expression);
                    self.optional(init);
                    self.optional(it.test.as_ref());
                }
            },
            Statement::ForInStatement(it) => self.visit_expression(&it.right),
            Statement::ForOfStatement(it) => {
                let taken_apart = match &it.left {
                    ForStatementLeft::VariableDeclaration(v) => {
                        v.declarations.iter().any(|d| d.id.is_destructuring_pattern())
                    }
                    target => target.as_assignment_target_pattern().is_some(),
                };
                if taken_apart {
                    self.note(Event::MayThrow);
                }
                self.visit_expression(&it.right);
                self.note(Event::MayThrow);
            }
            Statement::LabeledStatement(it) => self.statement(&it.body, false),
            _ => {}
        }
    }

    fn optional(&mut self, expression: Option<&Expression<'_>>) {
        if let Some(expression) = expression {
            self.visit_expression(expression);
        }
    }

    fn variables(&mut self, it: &VariableDeclaration<'_>) {
        for declarator in &it.declarations {
            // The engine puts the pattern before the value.
            if declarator.id.is_destructuring_pattern() {
                self.note(Event::MayThrow);
            }
            self.optional(declarator.init.as_ref());
        }
    }
}

impl<'a> VisitJs<'a> for First {
    fn visit_identifier_reference(&mut self, _: &IdentifierReference<'a>) {
        self.note(Event::Place);
    }

    fn visit_new_expression(&mut self, _: &NewExpression<'a>) {
        self.note(Event::Place);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.visit_expression(&it.callee);
        self.note(Event::Place);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.visit_expression(&it.tag);
        self.note(Event::Place);
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        self.visit_expression(&it.left);
        self.note(Event::Place);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        self.visit_expression(&it.object);
        self.note(Event::MayThrow);
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        walk_js::walk_computed_member_expression(self, it);
        self.note(Event::MayThrow);
    }

    fn visit_private_field_expression(&mut self, it: &PrivateFieldExpression<'a>) {
        self.visit_expression(&it.object);
        self.note(Event::MayThrow);
    }

    fn visit_spread_element(&mut self, it: &SpreadElement<'a>) {
        self.visit_expression(&it.argument);
        self.note(Event::MayThrow);
    }

    fn visit_yield_expression(&mut self, it: &YieldExpression<'a>) {
        self.optional(it.argument.as_ref());
        if it.delegate {
            self.note(Event::MayThrow);
        }
    }

    fn visit_object_assignment_target(&mut self, _: &ObjectAssignmentTarget<'a>) {
        self.note(Event::MayThrow);
    }

    fn visit_array_assignment_target(&mut self, _: &ArrayAssignmentTarget<'a>) {
        self.note(Event::MayThrow);
    }

    // What is inside runs elsewhere.
    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}

    fn visit_class(&mut self, _: &Class<'a>) {}
}
