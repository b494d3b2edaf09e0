//! Wire values as compact JSON text.

use std::fmt::Write as _;

use crate::{Decoder, Event, WireError};

/// The compact JSON text of one value, as `JSON.stringify` writes it.
pub fn to_json(value: &[u8]) -> Result<String, WireError> {
    let mut out = String::new();
    let mut decoder = Decoder::new(value);
    Decoder::new(value).skip_value()?; // checks the depth before anything recurses
    write_value(&mut decoder, &mut out)?;
    Ok(out)
}

fn write_value(d: &mut Decoder<'_>, out: &mut String) -> Result<(), WireError> {
    match d.next_event()? {
        Event::Null => out.push_str("null"),
        Event::Bool(v) => out.push_str(if v { "true" } else { "false" }),
        Event::Int(v) => drop(write!(out, "{v}")),
        Event::BigInt(digits) => out.push_str(digits),
        Event::Float(v) => out.push_str(ryu_js::Buffer::new().format_finite(v)),
        Event::String(text) => write_string(text, out),
        Event::Array(n) => {
            out.push('[');
            for i in 0..n {
                if i > 0 {
                    out.push(',');
                }
                write_value(d, out)?;
            }
            out.push(']');
        }
        Event::Object(n) => {
            out.push('{');
            for i in 0..n {
                if i > 0 {
                    out.push(',');
                }
                write_string(d.key()?, out);
                out.push(':');
                write_value(d, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => drop(write!(out, "\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}
