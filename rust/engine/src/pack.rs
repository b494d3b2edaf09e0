//! Words of a VM's pages in few bytes: a nibble each that says how many bytes follow.
//!
//! Made for this one kind of data and quick enough to cost less than moving what it saves: most
//! words are zero, a pointer into the arena or a small number. Reading checks every length.

use crate::arena::{BASE, PAGE, Page};

const WORDS: usize = PAGE / 8;
const NIBBLES: usize = WORDS / 2;
/// All bytes of a page, and what is read and written beyond a last word of fewer bytes.
const ROOM: usize = PAGE + 8;
/// Nibbles up to 8 are the number of bytes of the word itself. From here to `POINTER + 4`: an
/// address in the arena, less its upper half.
const POINTER: usize = 9;
/// The complement of one byte, of two: small negative numbers and tags.
const NEGATIVE: usize = 14;
const UPPER: u64 = (BASE >> 32) as u64;

/// Bytes that follow a nibble.
const LENGTHS: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 1, 2];

/// What of the next eight bytes belongs to a word, and what they are to be combined with.
const FORMS: [(u64, u64); 16] = {
    let mut forms = [(0, 0); 16];
    let mut nibble = 0;
    while nibble < 16 {
        if LENGTHS[nibble] > 0 {
            forms[nibble].0 = u64::MAX >> (64 - 8 * LENGTHS[nibble] as u32);
        }
        if nibble >= NEGATIVE {
            forms[nibble].1 = u64::MAX;
        } else if nibble >= POINTER {
            forms[nibble].1 = UPPER << 32;
        }
        nibble += 1;
    }
    forms
};

/// Nibble and what its bytes say. Both directions are written so that no jump depends on the
/// data: it is as good as random, and a jump that was guessed wrong costs more than the word.
fn encode(word: u64) -> (usize, u64) {
    let pointer = word >> 32 == UPPER;
    let negative = !word <= 0xffff;
    let value = if pointer { word & 0xffff_ffff } else { word };
    let value = if negative { !word } else { value };
    let bytes = (64 - value.leading_zeros() as usize).div_ceil(8);
    let form = if pointer { POINTER } else { 0 };
    let form = if negative { NEGATIVE - 1 + usize::from(bytes == 0) } else { form };
    (form + bytes, value)
}

/// Appends `page`.
pub(crate) fn pack(page: &Page, out: &mut Vec<u8>) {
    let mut packed = [0; NIBBLES + ROOM];
    let mut at = NIBBLES;
    for (eighth, words) in page.chunks_exact(8).enumerate() {
        if words.iter().fold(0, |all, word| all | word) == 0 {
            continue;
        }
        for (pair, words) in words.chunks_exact(2).enumerate() {
            let (low, first) = encode(words[0]);
            packed[at..at + 8].copy_from_slice(&first.to_le_bytes());
            at += LENGTHS[low] as usize;
            let (high, second) = encode(words[1]);
            packed[at..at + 8].copy_from_slice(&second.to_le_bytes());
            at += LENGTHS[high] as usize;
            packed[eighth * 4 + pair] = (low | high << 4) as u8;
        }
    }
    out.extend_from_slice(&packed[..at]);
}

/// What is behind the page at the start of `packed`; none if it is cut off.
pub(crate) fn skip(packed: &[u8]) -> Option<&[u8]> {
    let (nibbles, rest) = packed.split_at_checked(NIBBLES)?;
    let lengths = |pair: &u8| [pair & 15, pair >> 4].map(|n| LENGTHS[n as usize] as usize);
    rest.get(nibbles.iter().flat_map(lengths).sum()..)
}

/// Reads a page from the start of `packed` and gives what is behind it; none if it is cut off.
pub(crate) fn unpack<'a>(packed: &'a [u8], page: &mut Page) -> Option<&'a [u8]> {
    let (nibbles, rest) = packed.split_at_checked(NIBBLES)?;
    let mut padded = [0; ROOM];
    let bytes = rest.first_chunk().unwrap_or_else(|| {
        padded[..rest.len()].copy_from_slice(rest);
        &padded
    });
    let mut at = 0;
    for (words, pair) in page.chunks_exact_mut(2).zip(nibbles) {
        for (word, nibble) in words.iter_mut().zip([pair & 15, pair >> 4]) {
            let (mask, with) = FORMS[nibble as usize];
            let eight = bytes[at..at + 8].try_into().expect("eight bytes");
            *word = (u64::from_le_bytes(eight) & mask) ^ with;
            at += LENGTHS[nibble as usize] as usize;
        }
    }
    rest.get(at..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_page(seed: u64) -> Page {
        let mut state = seed;
        std::array::from_fn(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let random = state >> 3 ^ state << 31;
            match state >> 61 {
                0 | 1 => 0,
                2 => BASE as u64 + (random & 0x4fff_ffff),
                3 => !(random & 0x1_ffff),
                n => random >> (8 * (random & 7)) << (n - 4),
            }
        })
    }

    #[test]
    fn pages_come_back_and_nothing_is_read_past_the_end() {
        for seed in 0..500 {
            let page = some_page(seed);
            let mut packed = Vec::new();
            pack(&page, &mut packed);
            let mut back = [1; WORDS];
            assert_eq!(unpack(&packed, &mut back), Some(&[][..]));
            assert_eq!(back, page);
            packed.extend_from_slice(b"more");
            assert_eq!(unpack(&packed, &mut back), Some(&b"more"[..]));
            assert_eq!(skip(&packed), Some(&b"more"[..]));
            let whole = packed.len() - 4;
            for cut in [0, 1, NIBBLES - 1, NIBBLES, whole / 2, whole - 1] {
                assert_eq!(unpack(&packed[..cut], &mut back), None, "{cut} of {whole}");
                assert_eq!(skip(&packed[..cut]), None, "{cut} of {whole}");
            }
        }
    }

    #[test]
    fn words_at_the_borders_of_every_form() {
        let mut page: Page = [0; WORDS];
        let upper = UPPER << 32;
        let words = [
            0,
            1,
            0xff,
            0x100,
            u64::MAX,
            !0xff,
            !0x100,
            !0xffff,
            !0x1_0000,
            upper,
            upper | 1,
            upper | 0xffff_ffff,
            upper - 1,
            upper + (1 << 32),
            1 << 63,
        ];
        page[..words.len()].copy_from_slice(&words);
        let mut packed = Vec::new();
        pack(&page, &mut packed);
        let mut back = [1; WORDS];
        assert_eq!(unpack(&packed, &mut back), Some(&[][..]));
        assert_eq!(back, page);
    }
}
