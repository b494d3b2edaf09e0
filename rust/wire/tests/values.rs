//! The value codec: what is written is read, and hostile bytes are refused.

mod common;

use codemode_wire::json::to_json;
use codemode_wire::{Decoder, Encoder, Event, MAX_DEPTH, MAX_SAFE_INTEGER, WireError};
use common::{Tree, encode, json, read, trees};
use proptest::prelude::*;

/// Walks `bytes` as a reader would that trusts nothing, as far as they go.
fn walk(bytes: &[u8]) -> Result<Tree, WireError> {
    let whole = Decoder::new(bytes).skip_value()?;
    read(&mut Decoder::new(whole))
}

proptest! {
    #[test]
    fn a_value_is_read_as_it_was_written(tree in trees()) {
        let bytes = encode(&tree);
        let mut d = Decoder::new(&bytes);
        prop_assert_eq!(read(&mut d), Ok(tree));
        prop_assert!(d.is_done());
    }

    #[test]
    fn skipping_gives_the_bytes_of_one_value(first in trees(), second in trees()) {
        let (first, second) = (encode(&first), encode(&second));
        let both = [first.clone(), second.clone()].concat();
        let mut d = Decoder::new(&both);
        prop_assert_eq!(d.skip_value(), Ok(&first[..]));
        prop_assert_eq!(d.position(), first.len());
        prop_assert_eq!(d.skip_value(), Ok(&second[..]));
        prop_assert!(d.is_done());
    }

    #[test]
    fn the_json_length_is_that_of_the_text(tree in trees()) {
        let mut e = Encoder::new();
        common::write(&mut e, &tree);
        prop_assert_eq!(e.json_len(), json(&tree).len() as u64);
    }

    #[test]
    fn a_value_cut_short_is_refused(tree in trees(), cut in any::<prop::sample::Index>()) {
        let bytes = encode(&tree);
        let cut = &bytes[..cut.index(bytes.len())];
        prop_assert_eq!(Decoder::new(cut).skip_value(), Err(WireError::Truncated));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(tree) = walk(&bytes) {
            prop_assert_eq!(walk(&encode(&tree)), Ok(tree));
        }
    }

    #[test]
    fn changed_bytes_are_read_or_refused(
        tree in trees(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = encode(&tree);
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(tree) = walk(&bytes) {
            prop_assert_eq!(walk(&encode(&tree)), Ok(tree));
        }
    }

    #[test]
    fn a_number_has_one_form(v in any::<f64>()) {
        let mut e = Encoder::new();
        e.number(v);
        let bytes = e.into_bytes();
        let event = Decoder::new(&bytes).next_event().expect("what was just written");
        #[allow(clippy::cast_precision_loss)]
        match event {
            Event::Int(i) => prop_assert!((i as f64).to_bits() == v.to_bits() || v == 0.0),
            Event::Float(f) => prop_assert_eq!(f.to_bits(), v.to_bits()),
            Event::Null => prop_assert!(!v.is_finite()),
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

#[test]
fn the_largest_safe_integers_stay_integers() {
    for v in [0, -1, 1, MAX_SAFE_INTEGER, -MAX_SAFE_INTEGER] {
        assert_eq!(walk(&encode(&Tree::Int(v))), Ok(Tree::Int(v)));
    }
    // 2^53 as a zigzag varint
    let beyond = [3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20];
    assert!(matches!(walk(&beyond), Err(WireError::Malformed(_))));
}

fn nested(levels: usize) -> Vec<u8> {
    let mut bytes = [7, 1, 0, 0, 0].repeat(levels);
    bytes.push(0);
    bytes
}

#[test]
fn nesting_is_bounded() {
    assert!(Decoder::new(&nested(MAX_DEPTH + 2)).skip_value().is_ok());
    assert_eq!(Decoder::new(&nested(MAX_DEPTH + 3)).skip_value(), Err(WireError::TooDeep));
    assert_eq!(Decoder::new(&nested(1_000_000)).skip_value(), Err(WireError::TooDeep));
}

#[test]
fn a_count_of_what_is_not_there_is_refused() {
    for head in [7_u8, 8] {
        let bytes = [head, 0xff, 0xff, 0xff, 0xff, 0, 0];
        assert_eq!(Decoder::new(&bytes).next_event(), Err(WireError::Truncated));
    }
}

#[test]
fn a_length_of_what_is_not_there_is_refused() {
    let bytes = [6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    assert_eq!(Decoder::new(&bytes).next_event(), Err(WireError::Truncated));
    let bytes = [6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    assert_eq!(Decoder::new(&bytes).next_event(), Err(WireError::Malformed("varint too long")));
}

#[test]
fn what_no_value_is_is_refused() {
    let cases: [&[u8]; 7] = [
        b"\x09",
        b"\xff",
        b"\x04\x00",
        b"\x04\x01-",
        b"\x04\x021e",
        b"\x06\x01\xff",
        b"\x05\x00\x00\x00\x00\x00\x00\xf0\x7f",
    ];
    for bytes in cases {
        let refused = Decoder::new(bytes).next_event();
        assert!(matches!(refused, Err(WireError::Malformed(_))), "{bytes:?}: {refused:?}");
    }
}

#[test]
fn a_counter_keeps_nothing_and_counts_the_same() {
    let write = |out: &mut Encoder| {
        let mut object = out.begin_object();
        out.key(&mut object, "k\"ey");
        let mut array = out.begin_array();
        for value in [0.5, 7.0, -1e300, f64::NAN] {
            out.element(&mut array);
            out.number(value);
        }
        out.element(&mut array);
        out.string("line\n\u{1}é");
        out.element(&mut array);
        out.bigint("123456789012345678901234567890");
        out.end(array);
        out.key(&mut object, "b");
        out.bool(false);
        out.end(object);
    };
    let (mut kept, mut counted) = (Encoder::new(), Encoder::counter());
    write(&mut kept);
    write(&mut counted);
    assert_eq!(counted.json_len(), kept.json_len());
    assert!(counted.is_empty() && !kept.is_empty());
}

#[test]
fn the_json_length_of_every_byte_at_every_place() {
    for c in (0..=0x7f).map(char::from).chain(['é', '\u{2028}', '😀']) {
        for len in [0, 1, 31, 32, 33, 70] {
            let text = format!("{}a{}", c.to_string().repeat(len), "b".repeat(len % 7));
            let mut e = Encoder::new();
            e.string(&text);
            let len = e.json_len();
            let json = to_json(&e.into_bytes()).expect("a string");
            assert_eq!(len, json.len() as u64, "{text:?}");
        }
    }
}
