//! White space that the engine does not read as the language has it.
//!
//! It looks ahead past ASCII blanks only, and U+2028 at the end of a line comment is no line break
//! for it. So what stands between tokens and in comments becomes ASCII.

use oxc_ast::ast::{RegExpLiteral, StringLiteral, TemplateElement};
use oxc_ast_visit::VisitJs;
use oxc_span::Span;

use crate::offsets::Edit;
use crate::parse::{BODY_START, Cell};

/// Replaces every blank that is not ASCII, outside of strings, templates and regexes.
pub(crate) fn edits(cell: &Cell<'_>, text: &str) -> Vec<Edit> {
    if text.is_ascii() || !text.contains(is_wide_blank) {
        return Vec::new();
    }
    let mut literals = Literals::default();
    literals.visit_function_body(cell.body);
    literals.0.sort_unstable_by_key(|span| span.start);
    let inside = |at: u32| {
        let after = literals.0.partition_point(|span| span.start <= at);
        after.checked_sub(1).is_some_and(|i| at < literals.0[i].end)
    };
    text.match_indices(is_wide_blank)
        .filter(|(at, _)| !inside(*at as u32 + BODY_START))
        .map(|(at, blank)| {
            let ascii = if matches!(blank, "\u{2028}" | "\u{2029}") { "\n" } else { " " };
            Edit::replace(at as u32, (at + blank.len()) as u32, ascii)
        })
        .collect()
}

fn is_wide_blank(c: char) -> bool {
    !c.is_ascii() && (c.is_whitespace() || c == '\u{feff}')
}

/// Tokens whose text is data. None of them holds another one.
#[derive(Default)]
struct Literals(Vec<Span>);

impl<'a> VisitJs<'a> for Literals {
    fn visit_string_literal(&mut self, it: &StringLiteral<'a>) {
        self.0.push(it.span);
    }

    fn visit_template_element(&mut self, it: &TemplateElement<'a>) {
        self.0.push(it.span);
    }

    fn visit_reg_exp_literal(&mut self, it: &RegExpLiteral<'a>) {
        self.0.push(it.span);
    }
}
