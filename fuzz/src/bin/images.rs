//! Images of an attacker who makes the checksum fit: they are read or refused.
#![no_main]

use codemode_engine::inspect;
use codemode_fuzz::{chunk, image, prepare_engine, promptly};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: prepare_engine(), |data: &[u8]| promptly(|| {
    let Some((kind, rest)) = data.split_first() else { return };
    match kind % 3 {
        // All of it.
        0 => _ = inspect(rest),
        // Everything but the head and the checksum.
        1 => {
            let Some((counts, chunks)) = rest.split_at_checked(16) else { return };
            let word = |at: usize| {
                u64::from_le_bytes(counts[at * 8..][..8].try_into().expect("eight bytes"))
            };
            let _ = inspect(&image([word(0), word(1)], chunks));
        }
        // The tables of the cell.
        _ => {
            let packed = chunk(rest.len(), &lz4_flex::block::compress(rest));
            let _ = inspect(&image([0, rest.len() as u64], &packed));
        }
    }
}));
