//! Equality of JSON values as schemas mean it: `1` and `1.0` are one value.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use rustc_hash::FxHashMap;
use serde_json::{Number, Value};

pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => whole(a) == whole(b) && a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// Whether two of `items` are equal. Their hashes are keyed, so that nobody can make them
/// collide, and the work is in proportion to the size of the items.
pub(super) fn any_twice(items: &[Value]) -> bool {
    let keys = RandomState::new();
    let mut seen: FxHashMap<u64, Vec<&Value>> = FxHashMap::default();
    items.iter().any(|item| {
        let alike = seen.entry(digest(&keys, item)).or_default();
        let twice = alike.iter().any(|other| equal(other, item));
        alike.push(item);
        twice
    })
}

fn digest(keys: &RandomState, value: &Value) -> u64 {
    let mut hasher = keys.build_hasher();
    match value {
        Value::Null => 0u8.hash(&mut hasher),
        Value::Bool(v) => v.hash(&mut hasher),
        Value::Number(v) => match whole(v) {
            Some(v) => v.hash(&mut hasher),
            None => v.as_f64().map(f64::to_bits).hash(&mut hasher),
        },
        Value::String(v) => v.hash(&mut hasher),
        Value::Array(items) => {
            for item in items {
                digest(keys, item).hash(&mut hasher);
            }
        }
        // The order of members means nothing.
        Value::Object(members) => members
            .iter()
            .map(|(key, item)| keys.hash_one((key, digest(keys, item))))
            .fold(1u64, u64::wrapping_add)
            .hash(&mut hasher),
    }
    hasher.finish()
}

/// An integer, however it is written; larger ones than these are known by their double only.
fn whole(number: &Number) -> Option<i128> {
    if let Some(v) = number.as_i64() {
        return Some(v.into());
    }
    if let Some(v) = number.as_u64() {
        return Some(v.into());
    }
    number.as_f64().filter(|v| v.fract() == 0.0 && v.abs() < 1e19).map(|v| v as i128)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_equal_by_value_and_members_in_any_order() {
        for (a, b) in [
            (json!(1), json!(1.0)),
            (json!([0]), json!([-0.0])),
            (json!({"a": 1, "b": [2]}), json!({"b": [2.0], "a": 1})),
        ] {
            assert!(equal(&a, &b) && any_twice(&[json!(7), a, json!("x"), b]));
        }
        let big = 1i64 << 60;
        for (a, b) in [
            (json!(big), json!(big + 1)),
            (json!(0), json!(false)),
            (json!({"a": 1}), json!({"a": 1, "b": 2})),
            (json!([]), json!({})),
            (json!("1"), json!(1)),
        ] {
            assert!(!equal(&a, &b) && !any_twice(&[a, b]));
        }
    }
}
