//! TypeScript -> JavaScript, without type checks and without lowering any language feature.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    BindingIdentifier, Declaration, Statement, TSNamespaceDeclaration, TSNamespaceDeclarationBody,
    VariableDeclarationKind,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_sourcemap::SourceMap;
use oxc_span::SourceType;
use oxc_transformer::{TransformOptions, Transformer};

use crate::findings::{Finder, Findings};
use crate::merged;
use crate::offsets::{Anchor, Draft, Edit, Offsets};
use crate::parse::{self, SyntaxError};

/// What a TypeScript text became, or what stands in its way (offsets of the TypeScript text).
pub(crate) struct Stripped {
    pub draft: Draft<'static>,
    pub findings: Findings,
}

/// The same program as JavaScript; where every token came from is kept.
pub(crate) fn strip(allocator: &Allocator, draft: &Draft<'_>) -> Result<Stripped, SyntaxError> {
    let mut program = parse::module(allocator, &draft.text, SourceType::ts())?;
    let built = SemanticBuilder::new_compiler().with_enum_eval(true).build(&program);
    if let Some(error) = parse::first_error(&built.diagnostics) {
        return Err(error);
    }
    let scoping = built.semantic.into_scoping();
    let mut finder = Finder::new(Some(&scoping));
    finder.visit_program(&program);
    let findings = finder.findings;

    let options = TransformOptions::default();
    let transformed = Transformer::new(allocator, Path::new(""), &options)
        .build_with_scoping(scoping, &mut program);
    if let Some(error) = parse::first_error(&transformed.diagnostics) {
        return Err(error);
    }
    let printed = Codegen::new()
        .with_options(CodegenOptions {
            comments: CommentOptions::disabled(),
            source_map_path: Some(PathBuf::new()),
            ..CodegenOptions::default()
        })
        .with_source_text(program.source_text)
        .build(&program);
    let offsets = printed.map.map_or_else(Offsets::default, |map| {
        Offsets::new(anchors(&map, &draft.text, &printed.code))
    });
    let draft = Draft { text: Cow::Owned(printed.code), offsets: offsets.then(&draft.offsets) };
    Ok(Stripped { draft, findings })
}

/// The same program, in which what namespaces export can be used as TypeScript has it: variables are
/// properties that follow the variable (`strip` copies the value that they start with), and all parts
/// of a namespace know the names of each other. None if nothing has to change for that.
pub(crate) fn live_exports(
    allocator: &Allocator,
    draft: &Draft<'_>,
) -> Result<Option<Draft<'static>>, SyntaxError> {
    if !["namespace", "module"].iter().any(|word| draft.text.contains(word)) {
        return Ok(None);
    }
    let program = parse::module(allocator, &draft.text, SourceType::ts())?;
    let scoping = SemanticBuilder::new_compiler().build(&program).semantic.into_scoping();
    let mut exports = LiveExports { scoping: &scoping, edits: Vec::new(), error: None };
    exports.visit_program(&program);
    if let Some(offset) = exports.error {
        return Err(SyntaxError { message: SHADOWED.into(), offset });
    }
    let mut edits = exports.edits;
    edits.extend(merged::edits(&program, &scoping));
    edits.sort_by_key(|edit| edit.start);
    Ok((!edits.is_empty()).then(|| draft.edited(&edits)))
}

const SHADOWED: &str = "A namespace that exports a variable which changes cannot also declare its \
    own name; use a plain object";

struct LiveExports<'s> {
    scoping: &'s Scoping,
    edits: Vec<Edit>,
    /// A variable that cannot be told from its copy.
    error: Option<u32>,
}

impl<'a> VisitJs<'a> for LiveExports<'_> {
    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        if it.declare {
            return;
        }
        let TSNamespaceDeclarationBody::TSModuleBlock(block) = &it.body else {
            return walk_js::walk_ts_namespace_declaration(self, it);
        };
        let scope = it.scope_id.get();
        let shadowed = scope.is_some_and(|s| self.scoping.get_binding(s, it.id.name).is_some());
        for statement in &block.body {
            if let Statement::ExportDeclaration(export) = statement
                && let Declaration::VariableDeclaration(variables) = &export.declaration
                && matches!(
                    variables.kind,
                    VariableDeclarationKind::Let | VariableDeclarationKind::Var
                )
                && !variables.declare
            {
                let names: Vec<_> = variables
                    .declarations
                    .iter()
                    .flat_map(|d| d.id.get_binding_identifiers())
                    .collect();
                if shadowed {
                    let changes = |id: &&&BindingIdentifier<'a>| {
                        id.symbol_id.get().is_some_and(|s| self.scoping.symbol_is_mutated(s))
                    };
                    let changing = names.iter().find(changes).map(|id| id.span.start);
                    self.error = self.error.or(changing);
                    continue;
                }
                let properties = names.iter().map(|id| property(&it.id.name, &id.name));
                let properties = properties.collect::<Vec<_>>().join(" ");
                self.edits.push(Edit::replace(export.span.start, variables.span.start, ""));
                self.edits.push(Edit::insert(export.span.end, [";", &properties].concat()));
            } else {
                self.visit_statement(statement);
            }
        }
    }
}

/// Inside of the namespace, its name is the object that it becomes. `arguments` is the one name that
/// no variable in a module has.
fn property(namespace: &str, name: &str) -> String {
    format!(
        "Object.defineProperty({namespace}, \"{name}\", {{ enumerable: true, configurable: true, \
         get() {{ return {name}; }}, set() {{ {name} = arguments[0]; }} }});"
    )
}

fn anchors(map: &SourceMap<'_>, from: &str, to: &str) -> Vec<Anchor> {
    let mut source = Cursor::new(from);
    let mut target = Cursor::new(to);
    map.get_tokens()
        .map(|token| Anchor {
            dst: target.offset(token.get_dst_line(), token.get_dst_col()),
            src: source.offset(token.get_src_line(), token.get_src_col()),
        })
        .collect()
}

/// Turns 0-based lines and UTF-16 columns, as source maps have them, into byte offsets. Positions
/// mostly ascend; each step goes on from the last one where it can.
struct Cursor<'t> {
    text: &'t str,
    lines: Vec<u32>,
    ascii: bool,
    at: (u32, u32, u32),
}

impl<'t> Cursor<'t> {
    fn new(text: &'t str) -> Self {
        // Source maps also count U+2028 and U+2029 as line ends.
        let mut lines = vec![0];
        let bytes = text.as_bytes();
        for (i, &byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(i + 1) != Some(&b'\n'),
                0xa8 | 0xa9 => i >= 2 && bytes[i - 2..i] == [0xe2, 0x80],
                _ => false,
            };
            if ends {
                lines.push(i as u32 + 1);
            }
        }
        Self { text, lines, ascii: text.is_ascii(), at: (0, 0, 0) }
    }

    fn offset(&mut self, line: u32, column: u32) -> u32 {
        let end = self.text.len() as u32;
        let start = self.lines.get(line as usize).copied().unwrap_or(end);
        if self.ascii {
            return start.saturating_add(column).min(end);
        }
        let (last_line, last_column, last_offset) = self.at;
        let (mut units, mut offset) = if line == last_line && column >= last_column {
            (last_column, last_offset)
        } else {
            (0, start)
        };
        for c in self.text.get(offset as usize..).unwrap_or_default().chars() {
            if units >= column {
                break;
            }
            units += c.len_utf16() as u32;
            offset += c.len_utf8() as u32;
        }
        self.at = (line, column, offset);
        offset
    }
}
