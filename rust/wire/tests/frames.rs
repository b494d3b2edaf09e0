//! Frames: what one side says the other hears, and hostile frames are refused.

mod common;

use std::borrow::Cow;

use codemode_wire::frame::frame_len;
use codemode_wire::{
    Failed, Fetch, FetchKind, Finished, FromWorker, Leg, MAX_ITEMS, MAX_OUTSTANDING, MAX_TARGET,
    MAX_VALUES, Request, Resume, Settlement, Start, Suspended, ToWorker, WireError,
};
use common::values;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn legs() -> impl Strategy<Value = Leg> {
    (any::<[u64; 6]>(), any::<bool>()).prop_map(|(n, truncate_output)| Leg {
        deadline_ns: n[0],
        kill_ns: n[1],
        memory_limit: n[2],
        max_output: n[3],
        output_used: n[4],
        max_snapshot: n[5],
        truncate_output,
    })
}

fn blobs() -> impl Strategy<Value = Cow<'static, [u8]>> {
    values().prop_map(Cow::Owned)
}

fn bytes() -> impl Strategy<Value = Cow<'static, [u8]>> {
    vec(any::<u8>(), 0..99).prop_map(Cow::Owned)
}

fn settlements() -> impl Strategy<Value = Vec<Settlement<'static>>> {
    let one = (any::<u32>(), any::<bool>(), blobs());
    vec(one.prop_map(|(id, ok, value)| Settlement { id, ok, value }), 0..5)
}

fn orders() -> impl Strategy<Value = ToWorker<'static>> {
    let start = (legs(), any::<String>(), any::<[bool; 3]>(), values()).prop_map(
        |(leg, code, flags, globals)| {
            ToWorker::Start(Start {
                leg,
                code,
                typescript: flags[0],
                allow_javascript: flags[1],
                allow_typescript: flags[2],
                globals,
            })
        },
    );
    let resume = (legs(), bytes(), any::<bool>(), settlements()).prop_map(
        |(leg, image, release_yields, settlements)| {
            ToWorker::Resume(Resume { leg, image, release_yields, settlements })
        },
    );
    prop_oneof![
        start,
        resume,
        settlements().prop_map(ToWorker::Settle),
        Just(ToWorker::Suspend),
        blobs().prop_map(ToWorker::Data),
    ]
}

fn requests() -> impl Strategy<Value = Vec<Request<'static>>> {
    let one = (any::<u32>(), any::<String>(), any::<String>(), blobs());
    vec(one.prop_map(|(id, op, target, input)| Request { id, op, target, input }), 0..5)
}

fn turns() -> impl Strategy<Value = FromWorker<'static>> {
    let suspended = (
        (requests(), vec(blobs(), 0..4), any::<u64>()),
        (option::of(any::<u64>()), option::of(any::<String>()), any::<bool>()),
    )
        .prop_map(|((requests, output, output_used), (timer_ms, yielded, main_settled))| {
            FromWorker::Suspended(Suspended {
                requests,
                output,
                output_used,
                timer_ms,
                yielded,
                main_settled,
            })
        });
    let finished = (blobs(), vec(blobs(), 0..4), vec(any::<String>(), 0..4), any::<u64>())
        .prop_map(|(value, output, warnings, output_used)| {
            let reusable = output_used % 2 == 0;
            FromWorker::Finished(Finished { value, output, warnings, output_used, reusable })
        });
    let failed = (
        (any::<String>(), any::<String>(), any::<String>()),
        (option::of(any::<(u32, u32)>()), vec(blobs(), 0..4), vec(any::<String>(), 0..4)),
    )
        .prop_map(|((code, limit, message), (location, output, warnings))| {
            FromWorker::Failed(Failed { code, limit, message, location, output, warnings })
        });
    let kinds = prop::sample::select(vec![
        FetchKind::Catalog,
        FetchKind::Names,
        FetchKind::ApiList,
        FetchKind::ApiRead,
        FetchKind::McpNames,
    ]);
    prop_oneof![
        suspended,
        finished,
        failed,
        bytes().prop_map(FromWorker::ImagePart),
        (bytes(), any::<u64>())
            .prop_map(|(bytes, uncompressed)| FromWorker::Image { bytes, uncompressed }),
        (kinds, any::<String>())
            .prop_map(|(kind, argument)| FromWorker::Fetch(Fetch { kind, argument })),
    ]
}

fn edits() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)
}

fn apply(bytes: &mut [u8], edits: Vec<(prop::sample::Index, u8)>) {
    for (at, byte) in edits {
        let at = at.index(bytes.len());
        bytes[at] = byte;
    }
}

proptest! {
    #[test]
    fn the_worker_hears_what_the_host_says(order in orders()) {
        let bytes = order.encode();
        prop_assert_eq!(frame_len(&bytes, bytes.len()), Ok(Some(bytes.len())));
        prop_assert_eq!(ToWorker::decode(&bytes[4..]), Ok(order));
    }

    #[test]
    fn the_host_hears_what_the_worker_says(turn in turns()) {
        let bytes = turn.encode();
        prop_assert_eq!(frame_len(&bytes, bytes.len()), Ok(Some(bytes.len())));
        prop_assert_eq!(FromWorker::decode(&bytes[4..]), Ok(turn));
    }

    #[test]
    fn a_frame_cut_short_is_refused(
        order in orders(), turn in turns(), cut in any::<prop::sample::Index>(),
    ) {
        let bytes = order.encode();
        prop_assert!(ToWorker::decode(&bytes[4..][..cut.index(bytes.len() - 4)]).is_err());
        // A part of an image is whatever is there.
        prop_assume!(!matches!(turn, FromWorker::ImagePart(_)));
        let bytes = turn.encode();
        prop_assert!(FromWorker::decode(&bytes[4..][..cut.index(bytes.len() - 4)]).is_err());
    }

    #[test]
    fn bytes_after_a_frame_are_refused(order in orders(), turn in turns(), more in any::<u8>()) {
        let mut bytes = order.encode();
        bytes.push(more);
        prop_assert!(ToWorker::decode(&bytes[4..]).is_err());
        prop_assume!(!matches!(turn, FromWorker::ImagePart(_)));
        let mut bytes = turn.encode();
        bytes.push(more);
        prop_assert!(FromWorker::decode(&bytes[4..]).is_err());
    }

    #[test]
    fn any_bytes_are_a_frame_or_refused(bytes in vec(any::<u8>(), 0..300)) {
        if let Ok(order) = ToWorker::decode(&bytes) {
            let frame = order.encode();
            prop_assert_eq!(ToWorker::decode(&frame[4..]), Ok(order));
        }
        if let Ok(turn) = FromWorker::decode(&bytes) {
            let frame = turn.encode();
            prop_assert_eq!(FromWorker::decode(&frame[4..]), Ok(turn));
        }
    }

    #[test]
    fn changed_bytes_are_a_frame_or_refused(
        order in orders(), turn in turns(), one in edits(), other in edits(),
    ) {
        let mut bytes = order.encode();
        apply(&mut bytes[4..], one);
        if let Ok(order) = ToWorker::decode(&bytes[4..]) {
            let frame = order.encode();
            prop_assert_eq!(ToWorker::decode(&frame[4..]), Ok(order));
        }
        let mut bytes = turn.encode();
        apply(&mut bytes[4..], other);
        if let Ok(turn) = FromWorker::decode(&bytes[4..]) {
            let frame = turn.encode();
            prop_assert_eq!(FromWorker::decode(&frame[4..]), Ok(turn));
        }
    }

    #[test]
    fn a_length_is_known_from_four_bytes(bytes in vec(any::<u8>(), 0..8), max in any::<u32>()) {
        match frame_len(&bytes, max as usize) {
            Ok(None) => prop_assert!(bytes.len() < 4),
            Ok(Some(len)) => prop_assert!(len > 4 && len - 4 <= max as usize),
            Err(_) => prop_assert!(bytes.len() >= 4),
        }
    }
}

#[test]
fn an_empty_frame_is_refused() {
    assert!(matches!(frame_len(&[0; 4], 10), Err(WireError::Malformed(_))));
    assert!(FromWorker::decode(&[]).is_err());
    assert!(ToWorker::decode(&[]).is_err());
}

#[test]
fn a_frame_over_the_limit_is_refused() {
    assert_eq!(frame_len(&10_u32.to_le_bytes(), 10), Ok(Some(14)));
    let refused = WireError::TooLarge { len: 11, max: 10 };
    assert_eq!(frame_len(&11_u32.to_le_bytes(), 10), Err(refused));
}

#[test]
fn a_turn_has_no_more_requests_than_may_be_outstanding() {
    let turn = |n| {
        let request = Request { input: Cow::Owned(vec![0]), ..Request::default() };
        let requests = vec![request; n];
        FromWorker::Suspended(Suspended { requests, ..Suspended::default() }).encode()
    };
    assert!(FromWorker::decode(&turn(MAX_OUTSTANDING)[4..]).is_ok());
    assert!(FromWorker::decode(&turn(MAX_OUTSTANDING + 1)[4..]).is_err());
}

#[test]
fn lists_of_tiny_items_are_bounded() {
    let turn = |output, warnings| {
        let output = vec![Cow::Owned(vec![0]); output];
        let warnings = vec![String::new(); warnings];
        let value = Cow::Owned(vec![0]);
        FromWorker::Finished(Finished { value, output, warnings, output_used: 0, reusable: false })
            .encode()
    };
    assert!(FromWorker::decode(&turn(MAX_ITEMS - 1, MAX_ITEMS)[4..]).is_ok());
    assert!(FromWorker::decode(&turn(MAX_ITEMS + 1, 0)[4..]).is_err());
    assert!(FromWorker::decode(&turn(0, MAX_ITEMS + 1)[4..]).is_err());
}

#[test]
fn what_one_frame_may_become_is_bounded() {
    let many = |n: usize| [&[7][..], &(n as u32).to_le_bytes(), &vec![0; n]].concat();
    let turn = |inputs: &[Vec<u8>], value: Vec<u8>| {
        let requests = inputs
            .iter()
            .map(|input| Request { input: input.clone().into(), ..Request::default() });
        let suspended = Suspended {
            requests: requests.collect(),
            output: vec![value.into()],
            ..Suspended::default()
        };
        FromWorker::decode(&FromWorker::Suspended(suspended).encode()[4..]).map(drop)
    };
    let half = many(MAX_VALUES / 2 - 1);
    assert!(turn(std::slice::from_ref(&half), half.clone()).is_ok());
    // One value more, anywhere.
    for wrong in [turn(&[half.clone(), vec![0]], half.clone()), turn(&[], many(MAX_VALUES))] {
        assert_eq!(wrong, Err(WireError::Malformed("too many values in a frame")));
    }
    // What the host sends may be larger: it is trusted, and arrives in a heap of fixed size.
    let settled =
        ToWorker::Settle(vec![Settlement { id: 1, ok: true, value: many(MAX_VALUES).into() }]);
    assert!(ToWorker::decode(&settled.encode()[4..]).is_ok());
}

#[test]
fn targets_are_bounded() {
    let ask = |argument| {
        let asked = FromWorker::Fetch(Fetch { kind: FetchKind::ApiRead, argument });
        FromWorker::decode(&asked.encode()[4..]).map(drop)
    };
    assert!(ask("x".repeat(MAX_TARGET)).is_ok());
    assert!(ask("x".repeat(MAX_TARGET + 1)).is_err());
    let call = |op: usize, target: usize| {
        let (op, target) = ("x".repeat(op), "x".repeat(target));
        let requests = vec![Request { id: 1, op, target, input: vec![0].into() }];
        let turn = FromWorker::Suspended(Suspended { requests, ..Suspended::default() });
        FromWorker::decode(&turn.encode()[4..]).map(drop)
    };
    assert!(call(MAX_TARGET, MAX_TARGET).is_ok());
    assert!(call(MAX_TARGET + 1, 0).is_err());
    assert!(call(0, MAX_TARGET + 1).is_err());
}
