//! What the targets and the maker of seeds share.

use std::sync::LazyLock;

use codemode_engine as engine;
use codemode_wire::frame::IMAGE_PART_HEAD;
use codemode_wire::{FromWorker, Leg, Start};

/// Bytes of an image's head, which says whether it is one of this process.
const HEAD: usize = 5 * 8;
/// Counts and checksum.
const FOOT: usize = 3 * 8;

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
    let mut image = Vec::new();
    match engine::suspend(&mut |part| image.extend_from_slice(&part[IMAGE_PART_HEAD..])) {
        FromWorker::Image { bytes, .. } => [image, bytes.into_owned()].concat(),
        other => panic!("no image: {other:?}"),
    }
}

/// An image of this process with these counts (pages, bytes of tables), these chunks, and a checksum
/// that fits.
pub fn image(counts: [u64; 2], chunks: &[u8]) -> Vec<u8> {
    let [count, tables] = counts.map(u64::to_le_bytes);
    let sum = xxhash_rust::xxh3::xxh3_64(chunks).to_le_bytes();
    [&TEMPLATE[..HEAD], chunks, &count, &tables, &sum].concat()
}

/// One chunk that is so long without LZ4.
pub fn chunk(len: usize, packed: &[u8]) -> Vec<u8> {
    let lens = len as u64 | (packed.len() as u64) << 32;
    [&lens.to_le_bytes(), packed].concat()
}

/// What of an image [`image`] is made from.
pub fn parts(image: &[u8]) -> ([u64; 2], &[u8]) {
    let foot = image.len() - FOOT;
    let word = |at: usize| {
        u64::from_le_bytes(image[foot + at * 8..][..8].try_into().expect("eight bytes"))
    };
    ([word(0), word(1)], &image[HEAD..foot])
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
