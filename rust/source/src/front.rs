//! The order in which a text is read: limits, markdown, JavaScript, TypeScript, and then what it may
//! have been meant to be.

use std::borrow::Cow;

use oxc_allocator::Allocator;
use oxc_ast_visit::VisitJs;
use oxc_span::{GetSpan, SourceType};

use crate::cell;
use crate::dialect;
use crate::envelope::{self, Envelope};
use crate::exports;
use crate::fence::{self, Fence};
use crate::findings::{Finder, Findings};
use crate::guard;
use crate::hints;
use crate::map::{Lines, PositionMap};
use crate::offsets::{Draft, Edit};
use crate::parse::{self, HEAD, SyntaxError, TAIL};
use crate::places;
use crate::refusal::{self, Refusal};
use crate::shell;
use crate::typescript;
use crate::{MAX_SOURCE_BYTES, Options, Prepared};

/// Why a reading of the text failed: the next reading may be tried, or not.
enum Failure {
    /// It does not parse. Boxed with the text that the offset belongs to.
    Syntax(SyntaxError),
    Refused(Refusal),
}

/// A text that was sent, and how it is being read.
struct Reader<'t> {
    sent: &'t str,
    warnings: Vec<String>,
    /// The function that a module exports as its default.
    main: Option<String>,
}

impl<'t> Reader<'t> {
    fn new(sent: &'t str) -> Self {
        Self { sent, warnings: Vec::new(), main: None }
    }

    /// Forgets what an earlier reading found.
    fn reset(&mut self) {
        *self = Self::new(self.sent);
    }
}

/// Reads the text of one cell.
///
/// What is changed in it: one markdown fence around all of it goes, or what is left of one; the last
/// expression is returned if there is no `return` at the top level; a cell that is one function, or
/// that exports one as its default, calls it; `export` goes; an object literal or a function without
/// a name that stands alone is an expression; variables that a TypeScript namespace exports become
/// accessors, and names that another part of it exports its members; a statement that the engine keeps
/// no place of gets `0;` in front. Text inside of strings, templates, regexes and comments stays as it
/// is.
pub fn prepare(code: &str, options: &Options) -> Result<Prepared, Refusal> {
    if code.len() > MAX_SOURCE_BYTES {
        return Err(Refusal::limit(format!(
            "The cell is {} bytes long; at most {MAX_SOURCE_BYTES} are read. Send a shorter \
             program, and fetch data with tools instead of pasting it.",
            code.len()
        )));
    }
    refuse_language(*options)?;
    let reader = Reader::new(code);
    let draft = reader.unwrap()?;
    if draft.text.trim().is_empty() {
        return Err(Refusal::plain(refusal::EMPTY));
    }
    if let Some(offset) = guard::too_deep(&draft.text) {
        let mut refusal = reader.at(
            "The program is nested too deeply, or one expression in it is too long. Split it into \
             statements",
            &draft,
            offset as u32,
        );
        refusal.source_limit = true;
        return Err(refusal);
    }
    reader.read(&draft, *options)
}

fn refuse_language(options: Options) -> Result<(), Refusal> {
    let (asked, other, allowed, other_allowed) = if options.typescript {
        ("typescript", "javascript", options.allow_typescript, options.allow_javascript)
    } else {
        ("javascript", "typescript", options.allow_javascript, options.allow_typescript)
    };
    if allowed {
        return Ok(());
    }
    Err(Refusal::plain(if other_allowed {
        format!("The language \"{asked}\" is not enabled here; send \"{other}\".")
    } else {
        format!("The language \"{asked}\" is not enabled here.")
    }))
}

impl<'t> Reader<'t> {
    /// The text without markdown around it, with every line ended by LF.
    fn unwrap(&self) -> Result<Draft<'t>, Refusal> {
        let sent = self.sent.trim_start_matches(['\u{feff}', '\u{200b}']);
        let mark = self.sent.len() - sent.len();
        let (text, start) = match fence::find(sent) {
            Fence::None => (sent, mark),
            Fence::Several(offset) => {
                let offset = (mark + offset) as u32;
                return Err(Refusal::at(refusal::CODE_ONLY, self.sent, offset));
            }
            Fence::Around { tag, .. } if shell::is_tag(&tag) => {
                return Err(Refusal::plain(refusal::SHELL));
            }
            Fence::Around { code, .. } => (&sent[code.clone()], mark + code.start),
        };
        let mut text = Cow::Borrowed(text);
        // A lone CR ends a line wherever it may stand in a program; the engine counts it in some
        // places only.
        if has_lone_cr(text.as_bytes()) {
            let bytes = text.bytes().zip(text.bytes().skip(1).chain([0]));
            let bytes = bytes.map(|(b, next)| if b == b'\r' && next != b'\n' { b'\n' } else { b });
            text = Cow::Owned(String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned());
        }
        if let Some(line) = text.lines().next().filter(|l| l.starts_with("#!")) {
            if !["node", "deno", "bun", "tsx"].iter().any(|runtime| line.contains(runtime)) {
                return Err(Refusal::plain(refusal::SHELL));
            }
            text = Cow::Owned(format!("{}{}", " ".repeat(line.len()), &text[line.len()..]));
        }
        if let Some(tag) = fence::bare_tag(&text) {
            text.to_mut().replace_range(tag.clone(), &" ".repeat(tag.len()));
        }
        Ok(Draft::part(text, start))
    }

    fn read(mut self, draft: &Draft<'_>, options: Options) -> Result<Prepared, Refusal> {
        let first = match self.attempt(draft, options) {
            Ok(prepared) => return Ok(prepared),
            Err(Failure::Refused(refusal)) => return Err(refusal),
            Err(Failure::Syntax(error)) => error,
        };
        let exported = as_default_export(draft, first.offset as usize);
        let (draft, first) = match &exported {
            None => (draft, first),
            Some(exported) => match self.attempt(exported, options) {
                Ok(prepared) => return Ok(prepared),
                Err(Failure::Refused(refusal)) => return Err(refusal),
                Err(Failure::Syntax(error)) => (exported, error),
            },
        };
        if draft.text.trim_start().starts_with('{') {
            let object = as_expression(draft);
            match self.attempt(&object, options) {
                Err(Failure::Syntax(_)) => {}
                Err(Failure::Refused(refusal)) => return Err(refusal),
                Ok(prepared) => return Ok(prepared),
            }
        }
        if shell::looks_like(&draft.text) {
            return Err(Refusal::plain(refusal::SHELL));
        }
        if let Some(repaired) = unescaped(draft)
            && let Ok(mut prepared) = self.attempt(&repaired, options)
        {
            prepared.warnings.push(
                "The text had \\n where line breaks belong; they were read as line breaks. Send \
                 real line breaks."
                    .into(),
            );
            return Ok(prepared);
        }
        Err(self.syntax_error(draft, &first, options))
    }

    /// One reading of a text: in its language, or as TypeScript if only that parses.
    fn attempt(&mut self, draft: &Draft<'_>, options: Options) -> Result<Prepared, Failure> {
        self.reset();
        if options.typescript {
            return self.typescript(draft);
        }
        let error = match self.javascript(draft, options.allow_typescript) {
            Err(Failure::Syntax(error)) => error,
            done => return done,
        };
        if !options.allow_typescript {
            return Err(Failure::Syntax(error));
        }
        self.reset();
        match self.typescript(draft) {
            Ok(mut prepared) => {
                prepared.warnings.insert(
                    0,
                    "The cell was sent as JavaScript but is TypeScript, and was run as \
                     TypeScript: set language to \"typescript\"."
                        .into(),
                );
                Ok(prepared)
            }
            // Of two parsers the one that came further says more.
            Err(Failure::Syntax(other)) if other.offset > error.offset => {
                Err(Failure::Syntax(other))
            }
            Err(Failure::Syntax(_)) => Err(Failure::Syntax(error)),
            refused => refused,
        }
    }

    fn typescript(&mut self, draft: &Draft<'_>) -> Result<Prepared, Failure> {
        let allocator = Allocator::default();
        let live = typescript::live_exports(&allocator, draft).map_err(Failure::Syntax)?;
        let stripped = match &live {
            None => typescript::strip(&allocator, draft).map_err(Failure::Syntax)?,
            // The offset is one of the edited text.
            Some(live) => typescript::strip(&allocator, live)
                .map_err(|e| Failure::Refused(self.say(&e.message, None, live, e.offset)))?,
        };
        let draft = live.as_ref().unwrap_or(draft);
        self.refuse(&stripped.findings, draft)?;
        match self.javascript(&stripped.draft, false) {
            // The offset is one of the stripped text.
            Err(Failure::Syntax(error)) => {
                Err(Failure::Refused(self.say(&error.message, None, &stripped.draft, error.offset)))
            }
            done => done,
        }
    }

    fn javascript(&mut self, draft: &Draft<'_>, typescript: bool) -> Result<Prepared, Failure> {
        let allocator = Allocator::default();
        let error = match parse::cell(&allocator, &draft.text) {
            Ok(cell) => return self.finish(draft, &cell, typescript),
            Err(error) => error,
        };
        // Module syntax is no statement of a function body; a module says what is wrong without
        // the wrapper.
        let program = match parse::module(&allocator, &draft.text, SourceType::mjs()) {
            Err(error) => return Err(Failure::Syntax(error)),
            Ok(program) => program,
        };
        let mut finder = Finder::new(None);
        finder.visit_program(&program);
        self.refuse(&finder.findings, draft)?;
        let exports = exports::find(&program);
        if exports.edits.is_empty() {
            return Err(Failure::Syntax(error));
        }
        let draft = draft.edited(&exports.edits);
        let cell = parse::cell(&allocator, &draft.text);
        let cell =
            cell.map_err(|e| Failure::Refused(self.say(&e.message, None, &draft, e.offset)))?;
        if exports.named {
            self.warnings.push(exports::DROPPED.into());
        }
        self.main = exports.main;
        self.finish(&draft, &cell, typescript)
    }

    /// A tree that parses -> a script, unless the tree shows that it must not run.
    fn finish(
        &mut self,
        draft: &Draft<'_>,
        cell: &parse::Cell<'_>,
        typescript: bool,
    ) -> Result<Prepared, Failure> {
        if cell::is_empty(cell.body) {
            return Err(Failure::Refused(Refusal::plain(refusal::EMPTY)));
        }
        let mut finder = Finder::new(Some(&cell.scoping));
        finder.visit_function_body(cell.body);
        let findings = finder.findings;
        self.refuse(&shifted(&findings), draft)?;
        if cell::shell_word(cell) {
            return Err(Failure::Refused(Refusal::plain(refusal::SHELL)));
        }
        match envelope::find(cell) {
            Some(Envelope::Program) => {
                return Err(Failure::Refused(Refusal::plain(refusal::WRAPPED)));
            }
            Some(Envelope::Call(tool, input)) => {
                let input = input.map(|span| &draft.text[span.start as usize..span.end as usize]);
                return Err(Failure::Refused(refusal::tool_call(&tool, input)));
            }
            None => {}
        }
        if findings.type_arguments && typescript {
            let message = "Type arguments are TypeScript".into();
            return Err(Failure::Syntax(SyntaxError { message, offset: 0 }));
        }
        let dialect = dialect::edits(cell, &draft.text);
        if !dialect.is_empty() {
            return self.javascript(&draft.edited(&dialect), typescript);
        }
        let results = if !findings.returns {
            cell::results(cell, self.main.as_deref())
        } else if let Some(function) = cell::only_returned_function(cell) {
            function
        } else {
            if findings.returned_function {
                self.warnings.push(cell::UNCALLED.into());
            }
            cell::Results::default()
        };
        if !results.asked.is_empty() {
            self.warnings.push(cell::asks_for(&results.asked));
        }
        if let Some(offset) = shifted(&findings).empty_return {
            self.warnings.push(self.at(cell::EMPTY_RETURN, draft, offset).message);
        }
        let mut edits = places::edits(cell, results.edits.first().map(|edit| edit.start));
        edits.extend(results.edits);
        edits.sort_by_key(|edit| edit.start);
        let edited;
        let draft = if edits.is_empty() {
            draft
        } else {
            edited = draft.edited(&edits);
            &edited
        };
        Ok(Prepared {
            script: [HEAD, &draft.text, TAIL].concat(),
            warnings: std::mem::take(&mut self.warnings),
            map: PositionMap::new(&draft.text, &draft.offsets, self.sent),
        })
    }

    fn refuse(&self, findings: &Findings, draft: &Draft<'_>) -> Result<(), Failure> {
        let reasons = [
            (findings.module_access, refusal::MODULES),
            (findings.decorator, refusal::DECORATORS),
            (findings.accessor, refusal::ACCESSOR),
            (findings.export_assignment, refusal::EXPORT_ASSIGNMENT),
            (findings.fence, refusal::CODE_ONLY),
        ];
        match reasons.iter().find_map(|(found, message)| found.map(|offset| (offset, message))) {
            Some((offset, message)) => Err(Failure::Refused(self.at(message, draft, offset))),
            None => Ok(()),
        }
    }

    /// A refusal that points into `draft`.
    fn at(&self, message: &str, draft: &Draft<'_>, offset: u32) -> Refusal {
        Refusal::at(message, self.sent, draft.offsets.to_source(offset))
    }

    fn syntax_error(&self, draft: &Draft<'_>, error: &SyntaxError, options: Options) -> Refusal {
        let mut hint = hints::hint(&draft.text, error);
        if hint.is_none() && !options.typescript && !options.allow_typescript {
            let as_typescript = Options { typescript: true, allow_typescript: true, ..options };
            if Self::new(self.sent).attempt(draft, as_typescript).is_ok() {
                let advice = "This is TypeScript, which is not enabled here; send \"javascript\".";
                hint = Some(advice.into());
            }
        }
        self.say(&error.message, hint.as_deref(), draft, error.offset)
    }

    /// `SyntaxError: message (line L, column C)`, the line, and advice.
    fn say(&self, message: &str, hint: Option<&str>, draft: &Draft<'_>, offset: u32) -> Refusal {
        let lines = Lines::new(self.sent);
        let (line, column) = lines.position(self.sent, draft.offsets.to_source(offset));
        let mut text = format!("SyntaxError: {message} (line {line}, column {column})");
        let excerpt: String = lines.line(self.sent, line).trim().chars().take(120).collect();
        if !excerpt.is_empty() {
            text.extend([" in `", &excerpt, "`"]);
        }
        if let Some(hint) = hint {
            text.extend([". ", hint]);
        }
        Refusal { message: text, location: Some((line, column)), source_limit: false }
    }
}

/// Findings of a script -> findings of the body.
fn shifted(findings: &Findings) -> Findings {
    let shift = |offset: Option<u32>| offset.map(|o| o.saturating_sub(parse::BODY_START));
    Findings {
        module_access: shift(findings.module_access),
        decorator: shift(findings.decorator),
        accessor: shift(findings.accessor),
        fence: shift(findings.fence),
        empty_return: shift(findings.empty_return),
        ..*findings
    }
}

fn has_lone_cr(bytes: &[u8]) -> bool {
    bytes.iter().enumerate().any(|(i, &b)| b == b'\r' && bytes.get(i + 1) != Some(&b'\n'))
}

/// `{ a: 1, b: 2 }` -> `({ a: 1, b: 2 })`.
fn as_expression(draft: &Draft<'_>) -> Draft<'static> {
    let text = &draft.text;
    let start = text.len() - text.trim_start().len();
    let end = text.trim_end_matches(|c: char| c.is_whitespace() || c == ';').len();
    draft.edited(&[Edit::insert(start as u32, "("), Edit::insert(end.max(start) as u32, "\n)")])
}

/// `function () { … }` at the top level without a name, which only `export default` takes as a
/// declaration. `error` is where the name is missing.
fn as_default_export(draft: &Draft<'_>, error: usize) -> Option<Draft<'static>> {
    const EXPORT: &str = "export default ";
    let (before, after) = draft.text.split_at_checked(error)?;
    let head = before.trim_end().strip_suffix("function")?;
    let start = head.trim_end().strip_suffix("async").unwrap_or(head).len();
    if !after.starts_with('(') {
        return None;
    }
    let exported = draft.edited(&[Edit::insert(start as u32, EXPORT)]);
    let allocator = Allocator::default();
    let understood = match parse::module(&allocator, &exported.text, SourceType::ts()) {
        Ok(program) => program.body.iter().any(|statement| statement.span().start == start as u32),
        // What is wrong comes after the name.
        Err(other) => other.offset as usize > error + EXPORT.len(),
    };
    understood.then_some(exported)
}

/// A text without line breaks in which `\n` stands for them; quotes and tabs likewise.
fn unescaped(draft: &Draft<'_>) -> Option<Draft<'static>> {
    let text = draft.text.trim();
    if text.contains('\n') || !(text.contains("\\n") || text.contains("\\\"")) {
        return None;
    }
    let bytes = draft.text.as_bytes();
    let mut edits = Vec::new();
    let mut at = 0;
    while at + 1 < bytes.len() {
        let replacement = match (bytes[at], bytes[at + 1]) {
            (b'\\', b'n') => "\n",
            (b'\\', b'r') => " ",
            (b'\\', b't') => "\t",
            (b'\\', b'"') => "\"",
            (b'\\', b'\\') => "\\",
            _ => {
                at += 1;
                continue;
            }
        };
        edits.push(Edit::replace(at as u32, at as u32 + 2, replacement));
        at += 2;
    }
    Some(draft.edited(&edits))
}
