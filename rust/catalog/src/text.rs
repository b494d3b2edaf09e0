//! Turning untrusted names, literals and descriptions into safe TypeScript text.

use std::fmt::Write as _;

/// Whether `c` would change how the surrounding text reads: controls, line and paragraph
/// separators, zero-width and direction marks.
pub(crate) fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// `s` as a double-quoted literal that JSON, JavaScript and TypeScript read alike.
pub fn quote(s: &str) -> String {
    let mut out = String::with_capacity(s.len() + 2);
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_invisible(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whether `s` can stand unquoted as a property name. ASCII only: look-alikes stay in quotes.
fn is_plain_name(s: &str) -> bool {
    let mut bytes = s.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'$')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
}

/// `s` as a property name in a type literal, quoted where needed.
pub(crate) fn property_name(s: &str) -> String {
    if is_plain_name(s) { s.to_owned() } else { quote(s) }
}

/// Whether `s` is a JavaScript identifier by its characters (reserved words included).
pub(crate) fn is_identifier(s: &str) -> bool {
    let mut chars = s.chars();
    chars.next().is_some_and(is_identifier_start) && chars.all(is_identifier_part)
}

/// Whether an identifier may begin with `c`.
pub(crate) fn is_identifier_start(c: char) -> bool {
    c == '_' || c == '$' || unicode_ident::is_xid_start(c)
}

/// Whether an identifier may go on with `c`.
pub(crate) fn is_identifier_part(c: char) -> bool {
    c == '$' || unicode_ident::is_xid_continue(c)
}

/// Words that cannot name a function or a namespace in a TypeScript declaration.
pub(crate) fn is_reserved_word(s: &str) -> bool {
    const WORDS: &[&str] = &[
        "arguments",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "eval",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "function",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "let",
        "new",
        "null",
        "package",
        "private",
        "protected",
        "public",
        "return",
        "static",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "undefined",
        "var",
        "void",
        "while",
        "with",
        "yield",
    ];
    WORDS.binary_search(&s).is_ok()
}

/// Names that mean something on every object or promise, so no tool may answer to them.
pub(crate) fn is_object_member(s: &str) -> bool {
    s.starts_with("__")
        || matches!(
            s,
            "then"
                | "catch"
                | "finally"
                | "constructor"
                | "prototype"
                | "hasOwnProperty"
                | "isPrototypeOf"
                | "propertyIsEnumerable"
                | "toJSON"
                | "toLocaleString"
                | "toString"
                | "valueOf"
        )
}

/// At most `max` characters of `s`, marked where it was cut.
pub(crate) fn clip(s: &str, max: usize) -> String {
    if s.char_indices().nth(max).is_none() {
        return s.to_owned();
    }
    let end = s.char_indices().nth(max.saturating_sub(1)).map_or(0, |(at, _)| at);
    format!("{}…", s[..end].trim_end())
}

/// The lines of a description, fit to stand inside `/* */`: no end of comment, no invisible
/// characters, blank lines dropped.
pub(crate) fn comment_lines(text: &str, max: usize) -> Vec<String> {
    clip(text.trim(), max)
        .split(['\n', '\r', '\u{2028}', '\u{2029}'])
        .map(|line| {
            let line: String = line
                .chars()
                .map(|c| if c == '\t' { ' ' } else { c })
                .filter(|c| !is_invisible(*c))
                .collect();
            line.trim().replace("*/", "*\\/")
        })
        .filter(|line| !line.is_empty())
        .collect()
}

/// A description on one line, fit to stand inside a comment.
pub(crate) fn comment_line(text: &str, max: usize) -> String {
    comment_lines(text, max).join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_words_are_sorted_for_the_binary_search() {
        for word in ["arguments", "delete", "yield", "await", "enum"] {
            assert!(is_reserved_word(word), "{word}");
        }
        assert!(!is_reserved_word("createIssue"));
    }

    #[test]
    fn a_comment_cannot_be_ended_from_inside() {
        // Removing an invisible character must not join `*` and `/`.
        let joined = comment_line("a *\u{200b}/ b **/ c", 100);
        assert!(!joined.contains("*/"), "{joined}");
    }

    #[test]
    fn quoted_text_is_json() {
        let odd = "a\"b\\c\n\u{2028}\u{202e}\u{0}\u{e0041}*/é";
        assert_eq!(serde_json::from_str::<String>(&quote(odd)).unwrap(), odd);
        assert!(!quote(odd).contains(is_invisible));
    }

    #[test]
    fn clipping_counts_characters() {
        assert_eq!(clip("ééééé", 5), "ééééé");
        assert_eq!(clip("éééééé", 5), "éééé…");
    }
}
