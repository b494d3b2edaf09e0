//! What is probably meant by a text that does not parse.

use crate::fence;

/// Advice for a text that is no program, if its kind is certain enough. `offset` is where the
/// parser gave up.
pub(crate) fn hint(text: &str, offset: usize) -> Option<&'static str> {
    let trimmed = text.trim_start();
    let rest = text.get(offset..).unwrap_or("");
    if fence::marked_line(text).is_some() {
        return Some(crate::refusal::CODE_ONLY);
    }
    if is_python(text) {
        return Some("This looks like Python; exec runs JavaScript or TypeScript.");
    }
    if trimmed.starts_with("<!DOCTYPE")
        || trimmed.starts_with("<!doctype")
        || trimmed.starts_with("<html")
    {
        return Some("This looks like HTML; exec runs JavaScript or TypeScript.");
    }
    if on_line(text, offset).contains(['“', '”', '‘', '’', '„', '«', '»']) {
        return Some("Replace the typographic quotes by \" or '.");
    }
    if is_prose(trimmed) {
        return Some(crate::refusal::CODE_ONLY);
    }
    if rest.trim().is_empty() {
        return Some("The program seems to be cut off: check that every bracket is closed.");
    }
    if on_line(text, offset).trim_start().starts_with('<') {
        return Some("JSX is not available; build strings or plain objects.");
    }
    if rest.starts_with("\\n") {
        return Some("Send real line breaks, not the two characters \\n.");
    }
    None
}

fn on_line(text: &str, offset: usize) -> &str {
    let (before, after) = text.split_at_checked(offset).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    let end = before.len() + after.find('\n').unwrap_or(after.len());
    &text[start..end]
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
