//! The regular expressions of a script, for an engine that does not say where one is wrong.

use oxc_allocator::Allocator;
use oxc_ast::ast::RegExpLiteral;
use oxc_ast_visit::VisitJs;
use oxc_parser::Parser;
use oxc_span::SourceType;

use crate::map::Lines;

/// A regular expression as it is written in a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regex {
    /// With its slashes and flags.
    pub text: String,
    /// In the script, as the engine counts: from 1, columns in bytes.
    pub line: u32,
    /// See `line`.
    pub column: u32,
}

/// All regular expressions of a script of [`crate::prepare`], in order.
pub fn regexes(script: &str) -> Vec<Regex> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, script, SourceType::script()).parse();
    let mut found = Found { script, lines: Lines::new(script), regexes: Vec::new() };
    found.visit_program(&parsed.program);
    found.regexes
}

struct Found<'t> {
    script: &'t str,
    lines: Lines,
    regexes: Vec<Regex>,
}

impl<'a> VisitJs<'a> for Found<'_> {
    fn visit_reg_exp_literal(&mut self, it: &RegExpLiteral<'a>) {
        let text = self.script[it.span.start as usize..it.span.end as usize].to_owned();
        let (line, column) = self.lines.byte_position(it.span.start);
        self.regexes.push(Regex { text, line, column });
    }
}
