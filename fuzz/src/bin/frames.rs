//! Frames and values: what is read is written again in the same way, and nothing panics.
#![no_main]

use codemode_fuzz::promptly;
use codemode_wire::frame::frame_len;
use codemode_wire::json::to_json;
use codemode_wire::{Decoder, Event, FromWorker, MAX_FRAME, ToWorker, WireError};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| promptly(|| {
    let Some((kind, rest)) = data.split_first() else { return };
    match kind % 4 {
        0 => order(rest),
        1 => turn(rest),
        2 => value(rest),
        _ => stream(rest),
    }
}));

fn order(body: &[u8]) {
    if let Ok(order) = ToWorker::decode(body) {
        let again = order.encode();
        assert_eq!(frame_len(&again, MAX_FRAME), Ok(Some(again.len())));
        assert_eq!(ToWorker::decode(&again[4..]), Ok(order));
    }
}

fn turn(body: &[u8]) {
    if let Ok(turn) = FromWorker::decode(body) {
        let again = turn.encode();
        assert_eq!(frame_len(&again, MAX_FRAME), Ok(Some(again.len())));
        assert_eq!(FromWorker::decode(&again[4..]), Ok(turn));
    }
}

fn value(bytes: &[u8]) {
    let whole = Decoder::new(bytes).skip_value();
    let walked = walk(&mut Decoder::new(bytes), 0);
    assert_eq!(whole.is_ok(), walked.is_ok());
    if let Ok(whole) = whole {
        let text = to_json(whole).expect("a value has a text");
        assert!(codemode_catalog::value_from_wire(whole).is_ok());
        // Deeper than the parser of JSON goes, only the wire can carry.
        if text.matches(['[', '{']).count() < 100 {
            let _: codemode_catalog::Json = codemode_catalog::parse_schema(&text);
        }
    }
}

fn walk(d: &mut Decoder<'_>, depth: usize) -> Result<(), WireError> {
    if depth > codemode_wire::MAX_DEPTH + 2 {
        return Err(WireError::TooDeep);
    }
    let (count, keyed) = match d.next_event()? {
        Event::Array(n) => (n, false),
        Event::Object(n) => (n, true),
        _ => return Ok(()),
    };
    for _ in 0..count {
        if keyed {
            d.key()?;
        }
        walk(d, depth + 1)?;
    }
    Ok(())
}

fn stream(mut bytes: &[u8]) {
    while let Ok(Some(len)) = frame_len(bytes, 1 << 20) {
        if len > bytes.len() {
            return;
        }
        turn(&bytes[4..len]);
        bytes = &bytes[len..];
    }
}
