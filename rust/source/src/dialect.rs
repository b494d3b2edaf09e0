//! Text that the engine does not read as the language has it, put in words that it does.
//!
//! It looks ahead past ASCII blanks only, U+2028 at the end of a line comment is no line break for
//! it, and it takes `async` in `async => 1` for the keyword.

use oxc_ast::ast::{ArrowFunctionExpression, RegExpLiteral, StringLiteral, TemplateElement};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};

use crate::offsets::Edit;
use crate::parse::{BODY_START, Cell};

/// Makes every blank outside of strings, templates and regexes ASCII, and puts a parameter `async`
/// in parentheses. None for text that has neither, which is nearly all.
pub(crate) fn edits(cell: &Cell<'_>, text: &str) -> Vec<Edit> {
    let blanks = !text.is_ascii() && text.contains(is_wide_blank);
    // What follows the parameter is the arrow, or a comment before it.
    let mut words = text.match_indices("async").map(|(at, word)| &text[at + word.len()..]);
    if !blanks && !words.any(|after| after.trim_start().starts_with(['=', '/'])) {
        return Vec::new();
    }
    let mut found = Found::default();
    found.visit_function_body(cell.body);
    let mut edits = Vec::new();
    for name in found.names {
        let (start, end) = (name.start - BODY_START, name.end - BODY_START);
        edits.push(Edit::insert(start, "("));
        edits.push(Edit::insert(end, ")"));
    }
    if blanks {
        found.literals.sort_unstable_by_key(|span| span.start);
        let inside = |at: u32| {
            let after = found.literals.partition_point(|span| span.start <= at);
            after.checked_sub(1).is_some_and(|i| at < found.literals[i].end)
        };
        for (at, blank) in text.match_indices(is_wide_blank) {
            if !inside(at as u32 + BODY_START) {
                let ascii = if matches!(blank, "\u{2028}" | "\u{2029}") { "\n" } else { " " };
                edits.push(Edit::replace(at as u32, (at + blank.len()) as u32, ascii));
            }
        }
    }
    edits.sort_by_key(|edit| edit.start);
    edits
}

fn is_wide_blank(c: char) -> bool {
    !c.is_ascii() && (c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}'))
}

#[derive(Default)]
struct Found {
    /// Tokens whose text is data. None of them holds another one.
    literals: Vec<Span>,
    /// Parameters `async` that stand without parentheses.
    names: Vec<Span>,
}

impl<'a> VisitJs<'a> for Found {
    fn visit_string_literal(&mut self, it: &StringLiteral<'a>) {
        self.literals.push(it.span);
    }

    fn visit_template_element(&mut self, it: &TemplateElement<'a>) {
        self.literals.push(it.span);
    }

    fn visit_reg_exp_literal(&mut self, it: &RegExpLiteral<'a>) {
        self.literals.push(it.span);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        if let [parameter] = it.params.items.as_slice()
            && parameter.pattern.get_identifier_name().is_some_and(|name| name == "async")
            && !it.r#async
            && parameter.span().start == it.span.start
        {
            self.names.push(parameter.span());
        }
        walk_js::walk_arrow_function_expression(self, it);
    }
}
