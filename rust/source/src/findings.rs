//! One walk over a tree: everything in it that decides whether and how a cell may run.

use oxc_allocator::Vec as ArenaVec;
use oxc_ast::ast::{
    AccessorProperty, ArrowFunctionExpression, BinaryExpression, BinaryOperator, CallExpression,
    Decorator, Expression, Function, ImportDeclaration, ImportExpression, ImportMeta,
    NewExpression, ReturnStatement, Statement, StaticBlock, TSExportAssignment,
    TSImportEqualsDeclaration, TSModuleReference, TaggedTemplateExpression,
};
use oxc_ast::ast::{ExportAllDeclaration, ExportFromDeclaration};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_semantic::Scoping;
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use crate::cell;

/// Offsets are those of the tree that was walked.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// `return` outside of any function inside the cell.
    pub returns: bool,
    /// Such a `return` of what is written as a function.
    pub returned_function: bool,
    /// Such a `return` of nothing, with an expression on the next line.
    pub empty_return: Option<u32>,
    /// The first use of a module loader.
    pub module_access: Option<u32>,
    pub decorator: Option<u32>,
    /// A field with the keyword `accessor`.
    pub accessor: Option<u32>,
    /// `export =`.
    pub export_assignment: Option<u32>,
    /// A template that is the tag of a template: what a markdown fence looks like to the parser.
    pub fence: Option<u32>,
    /// `f<string>(x)`, which is two comparisons in JavaScript.
    pub type_arguments: bool,
}

/// Without a scoping, no `require` is reported.
pub(crate) struct Finder<'s> {
    pub findings: Findings,
    pub scoping: Option<&'s Scoping>,
    functions: u32,
}

impl<'s> Finder<'s> {
    pub(crate) fn new(scoping: Option<&'s Scoping>) -> Self {
        Self { findings: Findings::default(), scoping, functions: 0 }
    }

    fn module_access(&mut self, span: Span) {
        let first = self.findings.module_access.get_or_insert(span.start);
        *first = span.start.min(*first);
    }

    fn callee(&mut self, callee: &Expression<'_>, span: Span) {
        if self.may_be_require(callee) {
            self.module_access(span);
        }
    }

    /// Whether calling this calls a `require` that nothing in the cell declares.
    fn may_be_require(&self, callee: &Expression<'_>) -> bool {
        match callee.get_inner_expression() {
            Expression::Identifier(id) => {
                id.name == "require"
                    && self
                        .scoping
                        .is_some_and(|s| !id.reference_id.get().is_some_and(|r| s.has_binding(r)))
            }
            Expression::SequenceExpression(sequence) => {
                sequence.expressions.last().is_some_and(|e| self.may_be_require(e))
            }
            Expression::LogicalExpression(e) => {
                self.may_be_require(&e.left) || self.may_be_require(&e.right)
            }
            Expression::ConditionalExpression(e) => {
                self.may_be_require(&e.consequent) || self.may_be_require(&e.alternate)
            }
            Expression::StaticMemberExpression(e) => {
                matches!(e.property.name.as_str(), "call" | "apply" | "bind" | "resolve")
                    && self.may_be_require(&e.object)
            }
            Expression::ChainExpression(e) => {
                e.expression.as_member_expression().is_some_and(|m| self.may_be_require(m.object()))
            }
            _ => false,
        }
    }
}

impl<'a> VisitJs<'a> for Finder<'_> {
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.functions += 1;
        walk_js::walk_function(self, it, flags);
        self.functions -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.functions += 1;
        walk_js::walk_arrow_function_expression(self, it);
        self.functions -= 1;
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        self.functions += 1;
        walk_js::walk_static_block(self, it);
        self.functions -= 1;
    }

    fn visit_statements(&mut self, it: &ArenaVec<'a, Statement<'a>>) {
        if self.functions == 0 {
            let lost = it.windows(2).find_map(|two| match two {
                [
                    Statement::ReturnStatement(r),
                    Statement::ExpressionStatement(_) | Statement::BlockStatement(_),
                ] if r.argument.is_none() => Some(r.span.start),
                _ => None,
            });
            self.findings.empty_return = self.findings.empty_return.or(lost);
        }
        walk_js::walk_statements(self, it);
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        if self.functions == 0 {
            self.findings.returns = true;
            self.findings.returned_function |=
                it.argument.as_ref().is_some_and(|e| cell::function_expression(e).is_some());
        }
        walk_js::walk_return_statement(self, it);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.module_access(it.span);
        walk_js::walk_import_expression(self, it);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.module_access(it.span);
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.module_access(it.span);
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        if matches!(it.module_reference, TSModuleReference::ExternalModuleReference(_)) {
            self.module_access(it.span);
        }
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.module_access(it.span);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.module_access(it.span);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.callee(&it.callee, it.span);
        walk_js::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.callee(&it.callee, it.span);
        walk_js::walk_new_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.callee(&it.tag, it.span);
        if matches!(&it.tag, Expression::TemplateLiteral(_)) {
            self.findings.fence.get_or_insert(it.span.start);
        }
        walk_js::walk_tagged_template_expression(self, it);
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.findings.decorator.get_or_insert(it.span.start);
        walk_js::walk_decorator(self, it);
    }

    fn visit_accessor_property(&mut self, it: &AccessorProperty<'a>) {
        self.findings.accessor.get_or_insert(it.span.start);
        walk_js::walk_accessor_property(self, it);
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        self.findings.export_assignment.get_or_insert(it.span.start);
        walk_js::walk_ts_export_assignment(self, it);
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        if it.operator == BinaryOperator::GreaterThan
            && let Expression::BinaryExpression(left) = &it.left
            && left.operator == BinaryOperator::LessThan
            && let Expression::Identifier(name) = &left.right
            && matches!(it.right, Expression::ParenthesizedExpression(_))
            && it.right.span().start == left.right.span().end + 1
            && matches!(name.name.as_str(), "string" | "number" | "boolean" | "any" | "unknown")
        {
            self.findings.type_arguments = true;
        }
        walk_js::walk_binary_expression(self, it);
    }
}
