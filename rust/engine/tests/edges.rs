//! Images when the highest block of the arena ends at any place in its page.

mod common;

use codemode_engine as engine;
use codemode_wire::FromWorker;

use common::{image_of, in_child, resume, start, value_of};

/// The allocator's steps in one page.
const PLACES: usize = 4096 / 32;

#[test]
fn an_image_keeps_the_allocators_own_words_wherever_the_highest_block_ends() {
    engine::build_template(1, 0..0).expect("template");
    let mut lost = Vec::new();
    for place in 0..PLACES {
        // Larger than any hole: it lies at the top, and the next one after it.
        let code = format!(
            "const top = new Uint8Array(400_000 + {place} * 32); top[0] = 7;
             await yield_control();
             const next = new Uint8Array(400_000); return [top[0], next[0], next.at(-1)].join()"
        );
        let image = in_child(|| {
            assert!(matches!(start(&code), FromWorker::Suspended(_)));
            image_of()
        });
        let value = image.and_then(|image| in_child(|| value_of(&resume(image, vec![])).into()));
        if value != Ok(br#""7,0,0""#.to_vec()) {
            lost.push((place, value));
        }
    }
    assert!(lost.is_empty(), "{lost:?}");
}
