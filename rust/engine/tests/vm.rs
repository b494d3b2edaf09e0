//! The engine without processes and without Python. There is one VM per process, so this is one
//! test that plays several scenes in turn.

mod common;

use codemode_engine as engine;
use codemode_wire::json::to_json;
use codemode_wire::{FromWorker, Settlement};

use common::{image_of, number, resume, start, value_of};

/// Mappings that an image does not carry: heap, libraries, anonymous memory. Not the stack: the
/// engine keeps its limits, and sets them anew at each leg.
fn foreign_ranges() -> Vec<std::ops::Range<usize>> {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
    let own = std::env::current_exe().expect("own path");
    maps.lines()
        .filter(|l| !l.ends_with("[stack]") && !l.contains(own.to_str().expect("utf-8")))
        .filter_map(|l| {
            let (from, to) = l.split_once(' ')?.0.split_once('-')?;
            let range =
                usize::from_str_radix(from, 16).ok()?..usize::from_str_radix(to, 16).ok()?;
            (!range.contains(&0x100_0000_0000)).then_some(range)
        })
        .collect()
}

#[test]
fn a_cell_runs_is_suspended_and_goes_on_from_its_image() {
    engine::build_template(1, 0..0).expect("template");

    assert_eq!(value_of(&start("return 1 + 1")), "2");

    let turn = start(
        "class P { #x = 4; get x() { return this.#x; } }
         const p = new P(), big = 10n ** 20n, it = (function* () { yield 1; yield 2; })();
         it.next();
         const got = await tools.callValue('t', { a: [1, null] });
         return [got, p.x, big, it.next().value];",
    );
    let FromWorker::Suspended(suspended) = &turn else { panic!("{turn:?}") };
    assert_eq!(suspended.requests.len(), 1);
    assert_eq!(to_json(&suspended.requests[0].input).expect("own"), r#"{"a":[1,null]}"#);
    let id = suspended.requests[0].id;
    let image = image_of();
    println!("image: {} bytes", image.len());
    assert!(image.len() < 9 * 1024, "{} bytes", image.len());
    let settled = Settlement { id, ok: true, value: number(7).into() };
    assert_eq!(value_of(&resume(image.clone(), vec![settled])), "[7,4,100000000000000000000,2]");
    forged_images_are_read_or_refused(&image);

    // Libraries of a test build are mapped wherever; only their addresses must not be inside.
    let libc_calls = engine::words_into(&foreign_ranges());
    let allowed = 64; // built-ins of Math point straight at the C library in a dynamic test build
    assert!(libc_calls.len() < allowed, "{} words point outside", libc_calls.len());

    let turn = start(
        "const a = new Array(600_000).fill(0).map((_, i) => i); a.length = 0; await yield_control(); return 1",
    );
    assert!(matches!(turn, FromWorker::Suspended(_)), "{turn:?}");
    let image = image_of();
    assert!(image.len() < 500_000, "{} bytes after 20 MB were freed", image.len());

    images_of_many_parts_come_back();

    let mut flipped = image.clone();
    let at = flipped.len() - 9;
    flipped[at] ^= 1;
    let cases = [
        (flipped, "damaged"),
        (image[..39].to_vec(), "not an image"),
        (image[..40].to_vec(), "damaged"),
        (b"nonsense".to_vec(), "not an image"),
        (
            {
                let mut v = image.clone();
                v[8] = 9;
                v
            },
            "format",
        ),
        (
            {
                let mut v = image.clone();
                v[16] ^= 1;
                v
            },
            "another build",
        ),
        (
            {
                let mut v = image.clone();
                v[24] ^= 1;
                v
            },
            "another template",
        ),
    ];
    for (bytes, words) in cases {
        let turn = resume(bytes, vec![]);
        let FromWorker::Failed(failed) = &turn else { panic!("{words}: {turn:?}") };
        assert!(failed.message.contains(words), "{words}: {}", failed.message);
    }

    let turn = start("const big = 'x'.repeat(12 << 20); await yield_control(); return big.length");
    assert!(matches!(turn, FromWorker::Suspended(_)), "{turn:?}");
    let FromWorker::Failed(failed) = engine::suspend(&mut |_| ()) else {
        panic!("an image over the limit")
    };
    assert_eq!(
        (failed.code.as_str(), failed.limit.as_str()),
        ("snapshot_limit_exceeded", "snapshot")
    );
}

/// Chunks that are worth compressing and such that are not.
fn images_of_many_parts_come_back() {
    let turn = start(
        "const rows = Array.from({length: 20000}, (_, i) => ({i, x: i / 3}));\
         const texts = Array.from({length: 2000}, (_, i) => 'the same words again '.repeat(20) + i);\
         await yield_control();\
         return [rows.every((r, i) => r.i === i && r.x === i / 3), texts.every((t, i) => t.endsWith('again ' + i))]",
    );
    assert!(matches!(turn, FromWorker::Suspended(_)), "{turn:?}");
    let mut parts = Vec::new();
    let last = engine::suspend(&mut |part| parts.push(part.to_vec()));
    let FromWorker::Image { bytes, .. } = last else { panic!("{last:?}") };
    assert!(parts.len() > 5, "{} parts", parts.len());
    let mut image = Vec::new();
    for frame in &parts {
        let body = &frame[4..];
        assert_eq!(frame[..4], (body.len() as u32).to_le_bytes());
        let Ok(FromWorker::ImagePart(part)) = FromWorker::decode(body) else { panic!("no part") };
        image.extend_from_slice(&part);
    }
    image.extend_from_slice(&bytes);
    assert!(image.len() < 2_000_000, "{} bytes", image.len());
    assert_eq!(value_of(&resume(image.clone(), vec![])), "[true,true]");
    for at in (0..image.len()).step_by(image.len() / 40) {
        let mut damaged = image.clone();
        damaged[at] ^= 4;
        assert!(matches!(resume(damaged, vec![]), FromWorker::Failed(_)), "byte {at}");
        assert!(
            matches!(resume(image[..at].to_vec(), vec![]), FromWorker::Failed(_)),
            "{at} bytes"
        );
    }
}

/// A short form of the fuzz target `images`: counts, compressed bytes and tables that are changed
/// anywhere, with lengths and a checksum that fit.
fn forged_images_are_read_or_refused(image: &[u8]) {
    const HEAD: usize = 40;
    const CHUNK_HEAD: usize = 8;
    const FOOT: usize = 24;
    let forge = |counts: &[u8], raw: u64, packed: &[u8]| {
        let lens = (raw | (packed.len() as u64) << 32).to_le_bytes();
        let sum = xxhash_rust::xxh3::xxh3_64(&[&lens, packed].concat()).to_le_bytes();
        [&image[..HEAD], &lens, packed, counts, &sum].concat()
    };
    let word = |at: usize| u64::from_le_bytes(image[at..at + 8].try_into().expect("eight bytes"));
    let foot = image.len() - FOOT;
    let (counts, packed) = (&image[foot..][..16], &image[HEAD + CHUNK_HEAD..foot]);
    let raw = word(HEAD) & 0xffff_ffff;
    assert!(forge(counts, raw, packed) == image);
    assert_eq!(engine::inspect(image), Ok(()));
    let chunk = lz4_flex::block::decompress(packed, raw as usize).expect("own image");
    let tables = chunk[chunk.len() - word(foot + 8) as usize..].to_vec();
    let mut state = 1_u64;
    let mut chance = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut refused = 0;
    for round in 0..3000 {
        let (mut counts, mut raw, mut packed, mut tables) =
            (counts.to_vec(), raw, packed.to_vec(), tables.clone());
        match round % 3 {
            0 => {
                let at = chance(counts.len());
                counts[at] ^= 1 << chance(8);
            }
            1 => {
                let at = chance(packed.len());
                packed[at] ^= 1 << chance(8);
                packed.truncate(packed.len() - chance(2) * chance(packed.len()));
            }
            _ => {
                for _ in 0..=chance(3) {
                    let at = chance(tables.len());
                    tables[at] = [0, 1, 0x7f, 0xff][chance(4)];
                }
                tables.truncate(tables.len() - chance(2) * chance(tables.len()));
                let len = (tables.len() as u64).to_le_bytes();
                counts = [&[0; 8][..], &len].concat();
                raw = tables.len() as u64;
                packed = lz4_flex::block::compress(&tables);
            }
        }
        refused += usize::from(engine::inspect(&forge(&counts, raw, &packed)).is_err());
    }
    assert!(refused > 1000, "{refused}");
}
