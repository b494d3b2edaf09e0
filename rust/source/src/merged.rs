//! TypeScript namespaces in several parts: what one part exports is a name in all others.
//!
//! The transformer makes each part a function of its own, in which such a name is unknown or, worse,
//! another variable. It is put as a member of the namespace, as the TypeScript compiler does.

use std::collections::{HashMap, HashSet};

use oxc_ast::ast::{
    AssignmentTargetPropertyIdentifier, Declaration, Expression, IdentifierReference,
    ObjectProperty, Program, Statement, TSNamespaceDeclaration, TSNamespaceDeclarationBody,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_semantic::{ScopeId, Scoping};

use crate::offsets::Edit;

/// The names that each namespace exports, by its path.
type Exports<'a> = HashMap<String, HashSet<&'a str>>;

pub(crate) fn edits(program: &Program<'_>, scoping: &Scoping) -> Vec<Edit> {
    let mut parts = Parts::default();
    for statement in &program.body {
        parts.statement(statement, "");
    }
    if !parts.several {
        return Vec::new();
    }
    let mut merge = Merge { scoping, exports: &parts.exports, open: Vec::new(), edits: Vec::new() };
    merge.visit_program(program);
    merge.edits
}

fn path(outer: &str, name: &str) -> String {
    [outer, ".", name].concat()
}

#[derive(Default)]
struct Parts<'a> {
    exports: Exports<'a>,
    /// Some namespace has more than one part.
    several: bool,
}

impl<'a> Parts<'a> {
    fn statement(&mut self, statement: &Statement<'a>, outer: &str) {
        let declaration = match statement {
            Statement::ExportDeclaration(export) => {
                self.export(&export.declaration, outer);
                Some(&export.declaration)
            }
            other => other.as_declaration(),
        };
        if let Some(Declaration::TSNamespaceDeclaration(namespace)) = declaration {
            self.namespace(namespace, outer);
        }
    }

    fn namespace(&mut self, it: &TSNamespaceDeclaration<'a>, outer: &str) {
        if it.declare {
            return;
        }
        let path = path(outer, &it.id.name);
        self.several |= self.exports.contains_key(&path);
        self.exports.entry(path.clone()).or_default();
        match &it.body {
            TSNamespaceDeclarationBody::TSModuleBlock(block) => {
                for statement in &block.body {
                    self.statement(statement, &path);
                }
            }
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => {
                self.name(inner.id.name.as_str(), &path);
                self.namespace(inner, &path);
            }
        }
    }

    fn export(&mut self, declaration: &Declaration<'a>, namespace: &str) {
        if let Declaration::VariableDeclaration(variables) = declaration {
            for id in variables.declarations.iter().flat_map(|d| d.id.get_binding_identifiers()) {
                self.name(id.name.as_str(), namespace);
            }
        } else if !declaration.is_type()
            && let Some(id) = declaration.id()
        {
            self.name(id.name.as_str(), namespace);
        }
    }

    fn name(&mut self, name: &'a str, namespace: &str) {
        // At the top level there is nothing to merge.
        if let Some(names) = self.exports.get_mut(namespace) {
            names.insert(name);
        }
    }
}

/// A namespace that is being read.
struct Open<'a> {
    name: &'a str,
    path: String,
    scope: ScopeId,
}

struct Merge<'s, 'a> {
    scoping: &'s Scoping,
    exports: &'s Exports<'a>,
    open: Vec<Open<'a>>,
    edits: Vec<Edit>,
}

impl<'a> Merge<'_, 'a> {
    /// The namespace that a name is a member of because another part exports it.
    fn owner(&self, it: &IdentifierReference<'a>) -> Option<&'a str> {
        let reference = self.scoping.get_reference(it.reference_id.get()?);
        let bound = reference.symbol_id().map(|symbol| self.scoping.symbol_scope_id(symbol));
        let mut scopes = self.scoping.scope_ancestors(reference.scope_id());
        for open in self.open.iter().rev() {
            let mut hidden = false;
            for scope in scopes.by_ref() {
                if Some(scope) == bound {
                    return None;
                }
                hidden |= self
                    .scoping
                    .find_binding(scope, open.name.into())
                    .is_some_and(|symbol| self.scoping.symbol_scope_id(symbol) == scope);
                if scope == open.scope {
                    break;
                }
            }
            if self.exports.get(&open.path).is_some_and(|names| names.contains(it.name.as_str())) {
                return (!hidden).then_some(open.name);
            }
        }
        None
    }

    fn shorthand(&mut self, it: &IdentifierReference<'a>) {
        if let Some(owner) = self.owner(it) {
            let text = format!("{}: {owner}.", it.name);
            self.edits.push(Edit::insert(it.span.start, text));
        }
    }
}

impl<'a> VisitJs<'a> for Merge<'_, 'a> {
    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        let Some(scope) = it.scope_id.get().filter(|_| !it.declare) else { return };
        let outer = self.open.last().map_or("", |open| &open.path);
        let path = path(outer, &it.id.name);
        self.open.push(Open { name: it.id.name.as_str(), path, scope });
        walk_js::walk_ts_namespace_declaration(self, it);
        self.open.pop();
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if let Some(owner) = self.owner(it) {
            self.edits.push(Edit::insert(it.span.start, format!("{owner}.")));
        }
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        match &it.value {
            Expression::Identifier(id) if it.shorthand => self.shorthand(id),
            _ => walk_js::walk_object_property(self, it),
        }
    }

    fn visit_assignment_target_property_identifier(
        &mut self,
        it: &AssignmentTargetPropertyIdentifier<'a>,
    ) {
        self.shorthand(&it.binding);
        if let Some(init) = &it.init {
            self.visit_expression(init);
        }
    }
}
