//! Values of the wire as JSON values, for validation only.

use codemode_wire::{Decoder, Event, MAX_DEPTH, WireError};
use serde_json::{Map, Number, Value};

/// Reads exactly one value. Integers that JSON values cannot hold become the nearest double, so
/// the result is good for checking and not for passing on.
pub fn value_from_wire(bytes: &[u8]) -> Result<Value, WireError> {
    let mut decoder = Decoder::new(bytes);
    let value = read(&mut decoder, 0)?;
    if decoder.is_done() { Ok(value) } else { Err(WireError::Malformed("more than one value")) }
}

fn read(decoder: &mut Decoder<'_>, depth: usize) -> Result<Value, WireError> {
    if depth > MAX_DEPTH {
        return Err(WireError::TooDeep);
    }
    Ok(match decoder.next_event()? {
        Event::Null => Value::Null,
        Event::Bool(v) => v.into(),
        Event::Int(v) => v.into(),
        Event::BigInt(digits) => Value::Number(nearest(digits)),
        Event::Float(v) => v.into(),
        Event::String(v) => v.into(),
        Event::Array(n) => {
            let mut items = Vec::new();
            for _ in 0..n {
                items.push(read(decoder, depth + 1)?);
            }
            Value::Array(items)
        }
        Event::Object(n) => {
            let mut members = Map::new();
            for _ in 0..n {
                let key = decoder.key()?.to_owned();
                members.insert(key, read(decoder, depth + 1)?);
            }
            Value::Object(members)
        }
    })
}

fn nearest(digits: &str) -> Number {
    if let Ok(v) = digits.parse::<i64>() {
        return v.into();
    }
    if let Ok(v) = digits.parse::<u64>() {
        return v.into();
    }
    let v = digits.parse::<f64>().unwrap_or(0.0).clamp(f64::MIN, f64::MAX);
    Number::from_f64(v).unwrap_or_else(|| 0.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use codemode_wire::Encoder;
    use serde_json::json;

    #[test]
    fn integers_of_any_size_are_read() {
        for (digits, expected) in [
            ("9007199254740993", json!(9_007_199_254_740_993_i64)),
            ("18446744073709551615", json!(u64::MAX)),
            ("-36893488147419103232", json!(-36_893_488_147_419_103_232.0)),
        ] {
            let mut encoder = Encoder::new();
            encoder.bigint(digits);
            assert_eq!(value_from_wire(&encoder.into_bytes()).unwrap(), expected);
        }
        let mut encoder = Encoder::new();
        encoder.bigint(&"9".repeat(400));
        assert_eq!(value_from_wire(&encoder.into_bytes()).unwrap(), json!(f64::MAX));
    }

    #[test]
    fn objects_keep_their_keys_and_damage_is_refused() {
        let mut encoder = Encoder::new();
        let mut open = encoder.begin_object();
        encoder.key(&mut open, "__proto__");
        encoder.string("x");
        encoder.end(open);
        let bytes = encoder.into_bytes();
        assert_eq!(value_from_wire(&bytes).unwrap(), json!({"__proto__": "x"}));
        assert!(value_from_wire(&bytes[..bytes.len() - 1]).is_err());
        assert!(value_from_wire(&[&bytes[..], &[0]].concat()).is_err());
        let deep = [7u8, 1, 0, 0, 0].repeat(100_000);
        assert!(value_from_wire(&deep).is_err());
    }
}
