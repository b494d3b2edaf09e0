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

/// Bytes that follow two nibbles.
const BOTH: [u8; 256] = {
    let mut both = [0; 256];
    let mut pair = 0;
    while pair < 256 {
        both[pair] = LENGTHS[pair & 15] + LENGTHS[pair >> 4];
        pair += 1;
    }
    both
};

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

/// Nibble, what its bytes say, and how many they are. Both directions are written so that no jump
/// depends on the data: it is as good as random, and a jump that was guessed wrong costs more than
/// the word.
#[inline]
fn encode(word: u64) -> (u32, u64, usize) {
    let pointer = u64::from(word >> 32 == UPPER);
    let negative = u64::from(!word <= 0xffff);
    let value = word ^ (pointer * (UPPER << 32)) ^ negative.wrapping_neg();
    // The complement of zero takes a byte as well.
    let bytes = (71 - (value | negative).leading_zeros()) / 8;
    let form = pointer as u32 * POINTER as u32 + negative as u32 * (NEGATIVE - 1) as u32;
    (form + bytes, value, bytes as usize)
}

/// Makes pages into bytes, one after the other.
pub(crate) struct Packer {
    nibbles: [u8; NIBBLES],
    bytes: [u8; ROOM],
}

impl Packer {
    pub(crate) fn new() -> Self {
        Self { nibbles: [0; NIBBLES], bytes: [0; ROOM] }
    }

    /// Appends `page`.
    pub(crate) fn pack(&mut self, page: &Page, out: &mut Vec<u8>) {
        let mut at = 0;
        let nibbles = self.nibbles.as_chunks_mut::<4>().0;
        for (nibbles, words) in nibbles.iter_mut().zip(page.as_chunks::<8>().0) {
            let mut eight = 0;
            if words.iter().fold(0, |all, word| all | word) != 0 {
                for (n, word) in words.iter().enumerate() {
                    let (nibble, value, len) = encode(*word);
                    eight |= nibble << (4 * n);
                    // Never past the page; said so that it need not be checked.
                    let start = at % PAGE;
                    self.bytes[start..start + 8].copy_from_slice(&value.to_le_bytes());
                    at += len;
                }
            }
            *nibbles = eight.to_le_bytes();
        }
        out.extend_from_slice(&self.nibbles);
        out.extend_from_slice(&self.bytes[..at]);
    }
}

/// What is behind the page at the start of `packed`; none if it is cut off.
pub(crate) fn skip(packed: &[u8]) -> Option<&[u8]> {
    let (nibbles, rest) = packed.split_at_checked(NIBBLES)?;
    rest.get(nibbles.iter().map(|pair| BOTH[*pair as usize] as usize).sum()..)
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
            let start = at % PAGE;
            let eight = bytes[start..start + 8].try_into().expect("eight bytes");
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
            Packer::new().pack(&page, &mut packed);
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
        Packer::new().pack(&page, &mut packed);
        let mut back = [1; WORDS];
        assert_eq!(unpack(&packed, &mut back), Some(&[][..]));
        assert_eq!(back, page);
    }
}
