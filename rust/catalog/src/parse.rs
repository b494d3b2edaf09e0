//! Schema text to JSON values, whatever the text holds.

use std::borrow::Cow;

use serde_json::Value;

/// Nesting that is kept; `serde_json` itself stops at 128.
const MAX_DEPTH: usize = 100;

/// Parses a schema. What JSON text from other languages holds and `serde_json` refuses is
/// repaired: lone surrogates become U+FFFD, `NaN` and infinities null, numbers out of range the
/// largest number, and what is nested deeper than 100 levels `true` (any value).
/// Text that is no JSON at all gives null, a schema that says nothing.
pub fn parse_schema(text: &str) -> Value {
    serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&repair(text)))
        .unwrap_or(Value::Null)
}

fn repair(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut at, mut depth) = (0, 0usize);
    while at < bytes.len() {
        let start = at;
        let piece: Cow<'_, str> = match bytes[at] {
            b'"' => {
                at = string_end(bytes, at);
                mend_surrogates(&text[start..at])
            }
            b'[' | b'{' => {
                at += 1;
                depth += 1;
                if depth == MAX_DEPTH + 1 {
                    out.push_str("true");
                }
                text[start..at].into()
            }
            b']' | b'}' => {
                at += 1;
                depth = depth.saturating_sub(1);
                // The closing bracket of what was replaced goes with it.
                if depth >= MAX_DEPTH {
                    continue;
                }
                text[start..at].into()
            }
            b'-' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                while at < bytes.len()
                    && (bytes[at].is_ascii_alphanumeric() || b"+-.".contains(&bytes[at]))
                {
                    at += 1;
                }
                mend_scalar(&text[start..at]).into()
            }
            _ => {
                at += 1;
                while !text.is_char_boundary(at) {
                    at += 1;
                }
                text[start..at].into()
            }
        };
        if depth <= MAX_DEPTH {
            out.push_str(&piece);
        }
    }
    out
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn mend_scalar(word: &str) -> &str {
    const LARGEST: &str = "1.7976931348623157e308";
    match word {
        "NaN" | "Infinity" | "-Infinity" => "null",
        _ => match word.parse::<f64>() {
            Ok(n) if n.is_infinite() && word.as_bytes()[0].is_ascii_digit() => LARGEST,
            Ok(n) if n.is_infinite() => "-1.7976931348623157e308",
            _ => word,
        },
    }
}

/// Replaces `\uD800`-style escapes that have no partner.
fn mend_surrogates(literal: &str) -> Cow<'_, str> {
    if !literal.contains("\\u") {
        return literal.into();
    }
    let unit = |at: usize| -> Option<u32> {
        let hex = literal.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(hex, 16).ok()
    };
    let (mut out, mut at) = (String::with_capacity(literal.len()), 0);
    while at < literal.len() {
        let rest = &literal[at..];
        let len = match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => 12,
            Some(0xd800..=0xdfff) => {
                out.push('\u{fffd}');
                at += 6;
                continue;
            }
            Some(_) => 6,
            None if rest.starts_with('\\') => {
                1 + rest[1..].chars().next().map_or(0, char::len_utf8)
            }
            None => rest.chars().next().map_or(1, char::len_utf8),
        };
        out.push_str(&rest[..len]);
        at += len;
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_that_other_writers_produce_is_read() {
        let text =
            r#"{"a":"x\ud800y","b":"\ud83d\ude00","c":NaN,"d":-Infinity,"e":1e999,"f":"\\ud800"}"#;
        let expected =
            json!({"a":"x\u{fffd}y","b":"😀","c":null,"d":null,"e":f64::MAX,"f":"\\ud800"});
        assert_eq!(parse_schema(text), expected);
    }

    #[test]
    fn nesting_is_cut_and_what_follows_is_kept() {
        for n in [100, 101, 128, 500, 100_000] {
            let text = format!(
                r#"{{"deep":{}{},"next":[1,{{"k":"]}}"}}]}}"#,
                "[".repeat(n),
                "]".repeat(n)
            );
            assert_eq!(parse_schema(&text)["next"], json!([1, {"k": "]}"}]), "{n}");
        }
        let objects = format!("{}1{}", r#"{"a":"#.repeat(10_000), "}".repeat(10_000));
        assert!(parse_schema(&objects).is_object());
    }

    #[test]
    fn what_is_no_json_says_nothing() {
        for text in ["", "{", "\"\\", "[\"\\u", "é", "]]]]", "nul", "{\"a\"", "\"\\ud8é\""] {
            assert!(parse_schema(text).is_null(), "{text}");
        }
    }

    #[test]
    fn special_keys_survive() {
        let schema = parse_schema(r#"{"__proto__":1,"constructor":2}"#);
        assert_eq!(schema.as_object().unwrap().len(), 2);
    }
}
