//! What is probably meant by a text that does not parse.

use std::borrow::Cow;

use crate::fence;
use crate::parse::SyntaxError;

/// Advice for a text that is no program, if its kind is certain enough.
pub(crate) fn hint(text: &str, error: &SyntaxError) -> Option<Cow<'static, str>> {
    let offset = error.offset as usize;
    kind(text, offset)
        .or_else(|| construct(text, error))
        .map(Cow::Borrowed)
        .or_else(|| character(text, offset).map(Cow::Owned))
}

/// What the whole text, or the line at which the parser gave up, is instead of a program.
fn kind(text: &str, offset: usize) -> Option<&'static str> {
    let trimmed = text.trim_start();
    let line = on_line(text, offset);
    if fence::marked_line(text).is_some() || trimmed.starts_with('>') {
        return Some(crate::refusal::CODE_ONLY);
    }
    if is_python(text) || is_python_line(line) {
        return Some("This looks like Python; exec runs JavaScript or TypeScript.");
    }
    if is_sql(trimmed) {
        return Some(
            "This looks like SQL; exec runs JavaScript or TypeScript. Give the query to a tool as text.",
        );
    }
    if ["<!DOCTYPE", "<!doctype", "<html"].iter().any(|tag| trimmed.starts_with(tag)) {
        return Some("This looks like HTML; exec runs JavaScript or TypeScript.");
    }
    if line.contains(['“', '”', '‘', '’', '„', '«', '»']) {
        return Some("Replace the typographic quotes by \" or '.");
    }
    if is_entity(text, offset) {
        return Some("Send the characters themselves instead of HTML entities.");
    }
    if is_prose(trimmed) || is_sentence(line) {
        return Some(crate::refusal::CODE_ONLY);
    }
    None
}

/// What is wrong at the place where the parser gave up.
fn construct(text: &str, error: &SyntaxError) -> Option<&'static str> {
    let (before, rest) = text.split_at_checked(error.offset as usize)?;
    let said = |part: &str| error.message.contains(part);
    let line = on_line(text, before.len());
    let word = rest.trim_start().split(|c: char| !c.is_ascii_alphanumeric()).next();
    if rest.trim().is_empty() {
        return Some("The program seems to be cut off: check that every bracket is closed.");
    }
    let closes_tag =
        line.split("</").skip(1).any(|tag| tag.starts_with(|c: char| c.is_alphabetic()));
    if line.trim_start().starts_with('<') || said("regular expression") && closes_tag {
        return Some("JSX is not available; build strings or plain objects.");
    }
    if rest.starts_with("\\n") {
        return Some("Send real line breaks, not the two characters \\n.");
    }
    if said("`await` is only allowed") {
        return Some(
            "Write `async` before that function, and await what it gives: for (const x of list) { … }, \
             or await Promise.all(list.map(async (x) => …)).",
        );
    }
    if said("assignment in object literal") {
        return Some("In an object, write { name: value }.");
    }
    if said("Unterminated string") {
        return Some(
            "Close the quote on its line; a text of several lines is written in backquotes.",
        );
    }
    if said("but found `:`")
        && line.trim_end().contains('(')
        && before.trim_end().ends_with(name_end)
    {
        return Some("There are no named arguments: give one object, f({ name: value }).");
    }
    if rest.starts_with('(') && before.ends_with('}') {
        return Some("Put the function in parentheses to call it: (async () => { … })().");
    }
    if before.trim_end().ends_with('#') {
        return Some("Comments start with //.");
    }
    if matches!(word, Some("and" | "or" | "not")) {
        return Some("Write && for and, || for or, ! for not.");
    }
    if before.ends_with('f') && rest.starts_with(['"', '\'']) {
        return Some("Fill in values with a template: `text ${value}`.");
    }
    None
}

fn name_end(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A character that looks like one of the language, or like nothing at all.
fn character(text: &str, offset: usize) -> Option<String> {
    let found = text.get(offset..)?.trim_start().chars().next()?;
    let meant = match found {
        '–' | '—' | '−' | '‐' | '‑' => "-",
        '×' => "*",
        '÷' => "/",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!==",
        '→' | '⇒' => "=>",
        '、' => ",",
        '。' => ".",
        '…' => return Some("Write out what `…` stands for.".into()),
        '\u{ad}' | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => {
            let code = u32::from(found);
            return Some(format!("An invisible character, U+{code:04X}, stands there; remove it."));
        }
        // The wide forms of ASCII.
        '\u{ff01}'..='\u{ff5e}' => {
            let ascii = char::from_u32(u32::from(found) - 0xfee0)?;
            return Some(format!("Write `{ascii}` for the wide `{found}`."));
        }
        _ => return None,
    };
    Some(format!("Write `{meant}` for `{found}`."))
}

fn on_line(text: &str, offset: usize) -> &str {
    let (before, after) = text.split_at_checked(offset).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    let end = before.len() + after.find('\n').unwrap_or(after.len());
    &text[start..end]
}

/// Whether the parser gave up in an HTML entity.
fn is_entity(text: &str, offset: usize) -> bool {
    ["&gt;", "&lt;", "&amp;", "&quot;", "&#39;", "&#x27;", "&nbsp;"].iter().any(|entity| {
        (0..entity.len()).any(|before| {
            let start = offset.checked_sub(before);
            start.and_then(|start| text.get(start..)).is_some_and(|rest| rest.starts_with(entity))
        })
    })
}

fn is_sql(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    [("select ", " from "), ("insert into ", " values"), ("update ", " set "), ("delete from ", "")]
        .iter()
        .any(|(start, then)| text.starts_with(start) && text.contains(then))
}

fn is_python(text: &str) -> bool {
    text.lines().any(|line| {
        let l = line.trim();
        (l.starts_with("def ") && l.ends_with(':'))
            || (l.starts_with("from ") && l.contains(" import "))
            || (l.strip_prefix("import ").is_some_and(|m| {
                let name = m.split(" as ").next().unwrap_or("");
                !name.is_empty()
                    && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.".contains(c))
            }))
            || (["if ", "elif ", "for ", "while ", "with ", "class ", "except"]
                .iter()
                .any(|p| l.starts_with(p))
                && l.ends_with(':'))
            || (matches!(l, "else:" | "try:" | "finally:"))
            || (l.starts_with("print ") || l.starts_with("print(f\""))
    })
}

/// `x = 1 if y else 2`, `if not x:`, `for x in y:`
fn is_python_line(line: &str) -> bool {
    let line = line.trim();
    let condition = line.split_once(" if ").map(|(_, after)| after);
    condition
        .is_some_and(|c| !c.starts_with('(') && c.contains(" else ") && !c.contains(['{', '?']))
        || ["if not ", "while not "].iter().any(|start| line.starts_with(start))
        || line.strip_prefix("for ").is_some_and(|head| {
            !head.starts_with('(') && head.contains(" in ") && head.contains(':')
        })
}

/// A line of prose between or after statements: it starts with two words and ends as a sentence.
fn is_sentence(line: &str) -> bool {
    let line = line.trim();
    let mut words = line.split(' ');
    let mut plain = || {
        words.next().is_some_and(|w| {
            let w = w.trim_end_matches(',');
            !w.is_empty() && w.chars().all(char::is_alphabetic)
        })
    };
    line.starts_with(char::is_uppercase)
        && plain()
        && plain()
        && (line.ends_with(['.', ':', '!']) || (plain() && plain()))
}

/// The first line starts with several plain words: no statement does.
fn is_prose(text: &str) -> bool {
    const NEVER_FIRST: &[&str] = &[
        "abstract",
        "async",
        "await",
        "class",
        "const",
        "declare",
        "delete",
        "do",
        "enum",
        "export",
        "for",
        "function",
        "if",
        "import",
        "interface",
        "let",
        "namespace",
        "new",
        "return",
        "switch",
        "throw",
        "try",
        "type",
        "typeof",
        "using",
        "var",
        "void",
        "while",
        "yield",
    ];
    let line = text.lines().next().unwrap_or("");
    let words: Vec<&str> = line.split(' ').take(4).collect();
    let plain = |w: &&str| {
        let w = w.trim_end_matches([',', ':', '.', '!']);
        !w.is_empty() && w.chars().all(|c| c.is_alphabetic() || c == '\'' || c == '’')
    };
    words.len() >= 3 && words.iter().all(plain) && !NEVER_FIRST.contains(&words[0])
}
