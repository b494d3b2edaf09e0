//! What the targets and the maker of seeds share.

use std::sync::LazyLock;

use codemode_engine as engine;
use codemode_wire::{FromWorker, Leg, Start};

/// Bytes of an image's head that say whether it is one of this process: the same in all of them.
const SAME: usize = 5 * 8;
/// The whole head: the counts and the checksum follow.
const HEAD: usize = 9 * 8;

static TEMPLATE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    engine::build_template(0, 0..0).expect("a template");
    suspended("await yield_control()")
});

/// The image of a program that suspends itself.
pub fn suspended(code: &str) -> Vec<u8> {
    engine::reset();
    let leg = Leg {
        deadline_ns: u64::MAX,
        kill_ns: u64::MAX,
        memory_limit: 64 << 20,
        max_output: 65_536,
        output_used: 0,
        max_snapshot: 10 << 20,
        truncate_output: false,
    };
    let globals = vec![8, 0, 0, 0, 0];
    let start = Start {
        leg,
        code: code.into(),
        typescript: false,
        allow_javascript: true,
        allow_typescript: true,
        globals,
    };
    let turn = engine::start(&start, |_| vec![7, 0, 0, 0, 0]);
    assert!(matches!(turn, FromWorker::Suspended(_)), "{turn:?}");
    match engine::suspend() {
        FromWorker::Image { bytes, .. } => bytes.into_owned(),
        other => panic!("no image: {other:?}"),
    }
}

/// An image of this process with these counts (pages, bytes of tables, bytes before compression)
/// and a checksum that fits.
pub fn image(counts: [u64; 3], packed: &[u8]) -> Vec<u8> {
    let mut image = TEMPLATE[..SAME].to_vec();
    for word in [counts[0], counts[1], counts[2], xxhash_rust::xxh3::xxh3_64(packed)] {
        image.extend_from_slice(&word.to_le_bytes());
    }
    image.extend_from_slice(packed);
    image
}

/// What of an image [`image`] is made from.
pub fn parts(image: &[u8]) -> ([u64; 3], &[u8]) {
    let word = |at: usize| {
        let bytes = image[SAME + at * 8..][..8].try_into().expect("eight bytes");
        u64::from_le_bytes(bytes)
    };
    ([word(0), word(1), word(2)], &image[HEAD..])
}

/// Does it, and panics if that took more than a second of the processor. The fuzzer's own limit is one of
/// the clock, which goes on when other processes run.
pub fn promptly(work: impl FnOnce()) {
    let before = cpu_seconds();
    work();
    let took = cpu_seconds() - before;
    assert!(took < 1.0, "{took} seconds");
}

fn cpu_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to a local that outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Makes the template, before anything is measured.
pub fn prepare_engine() {
    LazyLock::force(&TEMPLATE);
}
