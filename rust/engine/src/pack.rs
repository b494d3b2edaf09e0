//! Words of a VM's pages in few bytes: for each word, which of its bytes are not zero, and those.
//!
//! Made for this one kind of data and quick enough to cost less than moving what it saves: most
//! words are zero, a pointer into the arena or a small number. A page is 64 bytes, one for eight
//! words, that say which of their masks are not zero; those masks; the bytes of the words that the
//! masks tell of. Reading checks every length.

#![allow(unsafe_code)]
// What is inlined here is compiled once for each kind of processor.
#![allow(clippy::inline_always)]

use crate::arena::{BASE, PAGE, Page};

const WORDS: usize = PAGE / 8;
const GROUPS: usize = WORDS / 8;

/// Eight words, and what is read and written beyond the last of what is kept of them.
type Group = [u64; 8];
const MASKS_ROOM: usize = WORDS + 8;
const BYTES_ROOM: usize = PAGE + 8;

/// Gives pointers and small negative numbers as few bytes as they need; zero stays zero. Undone by
/// [`unfold`].
#[inline(always)]
fn fold(word: u64) -> u64 {
    let word = swap(word);
    (word << 1) ^ ((word as i64) >> 63) as u64
}

#[inline(always)]
fn unfold(word: u64) -> u64 {
    swap((word >> 1) ^ (word & 1).wrapping_neg())
}

/// Exchanges the addresses of the arena with numbers of more than 16 bits, which are rarer.
#[inline(always)]
fn swap(word: u64) -> u64 {
    let low = word & !(BASE as u64);
    let swapped = low >> 32 == 0 && low >> 16 != 0;
    word ^ if swapped { BASE as u64 } else { 0 }
}

// Addresses differ from their lower halves in one bit, and doubled they still have four bytes.
const _: () = assert!(BASE.is_power_of_two() && BASE >> 32 != 0 && crate::arena::SIZE < 1 << 31);

/// Which bytes of eight are not zero.
#[inline(always)]
fn mask_of(word: u64) -> u8 {
    const SEVEN: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let tops = (((word & SEVEN) + SEVEN) | word) & !SEVEN;
    // Each top bit goes to its place in the uppermost byte.
    ((tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// For each mask, where each byte comes from: those that are told of to the front, and back. The
/// bytes beyond are zero.
const TO_FRONT: [u64; 256] = orders(false);
const TO_PLACE: [u64; 256] = orders(true);

const fn orders(back: bool) -> [u64; 256] {
    let mut orders = [0; 256];
    let mut mask = 0;
    while mask < 256 {
        // An index with its top bit set gives zero.
        let mut order = [0x80; 8];
        let (mut place, mut front) = (0, 0);
        while place < 8 {
            if mask >> place & 1 == 1 {
                if back {
                    order[place] = front as u8;
                } else {
                    order[front] = place as u8;
                }
                front += 1;
            }
            place += 1;
        }
        orders[mask] = u64::from_le_bytes(order);
        mask += 1;
    }
    orders
}

/// The bytes of `word` in `order`; zero where it names none.
#[inline(always)]
fn reorder(word: u64, order: u64) -> u64 {
    let (word, order) = (word.to_le_bytes(), order.to_le_bytes());
    u64::from_le_bytes(order.map(|from| word[from as usize & 7] & (from >> 7).wrapping_sub(1)))
}

/// The same by what most processors of this kind have.
#[cfg(target_arch = "x86_64")]
mod quick {
    use std::arch::x86_64::{
        _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_shuffle_epi8, _mm256_cmpeq_epi8,
        _mm256_movemask_epi8, _mm256_set_epi64x, _mm256_setzero_si256,
    };

    use super::{Group, Page};

    /// Whether it may be called.
    pub(super) fn is_there() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")
    }

    #[target_feature(enable = "avx2")]
    fn reorder(word: u64, order: u64) -> u64 {
        let [word, order] = [word, order].map(|one| _mm_cvtsi64_si128(one as i64));
        _mm_cvtsi128_si64(_mm_shuffle_epi8(word, order)) as u64
    }

    #[target_feature(enable = "avx2")]
    fn masks_of(words: &Group) -> u64 {
        let zeros_of = |at: usize| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|n| words[at + n] as i64);
            let equal = _mm256_cmpeq_epi8(_mm256_set_epi64x(d, c, b, a), _mm256_setzero_si256());
            u64::from(_mm256_movemask_epi8(equal) as u32)
        };
        !(zeros_of(4) << 32 | zeros_of(0))
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn pack(packer: &mut super::Packer, page: &Page, out: &mut Vec<u8>) {
        packer.pack_by(page, out, |words| masks_of(words), |word, order| reorder(word, order));
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn skip(packed: &[u8]) -> Option<&[u8]> {
        super::skip_by(packed)
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn unpack<'a>(packed: &'a [u8], page: &mut Page) -> Option<&'a [u8]> {
        super::unpack_by(packed, page, |word, order| reorder(word, order))
    }
}

/// Makes pages into bytes, one after the other.
pub(crate) struct Packer {
    masks: [u8; MASKS_ROOM],
    bytes: [u8; BYTES_ROOM],
}

impl Packer {
    pub(crate) fn new() -> Self {
        Self { masks: [0; MASKS_ROOM], bytes: [0; BYTES_ROOM] }
    }

    /// Appends `page`.
    pub(crate) fn pack(&mut self, page: &Page, out: &mut Vec<u8>) {
        #[cfg(target_arch = "x86_64")]
        if quick::is_there() {
            // SAFETY: the processor has what it needs.
            return unsafe { quick::pack(self, page, out) };
        }
        let masks_of = |words: &Group| u64::from_le_bytes(words.map(mask_of));
        self.pack_by(page, out, masks_of, reorder);
    }

    #[inline(always)]
    fn pack_by(
        &mut self,
        page: &Page,
        out: &mut Vec<u8>,
        masks_of: impl Fn(&Group) -> u64,
        reorder: impl Fn(u64, u64) -> u64,
    ) {
        let mut groups = [0; GROUPS];
        let (mut masks_len, mut at) = (0, 0);
        for (group, words) in groups.iter_mut().zip(page.as_chunks::<8>().0) {
            let words = words.map(fold);
            let masks = masks_of(&words);
            if masks == 0 {
                continue;
            }
            // Never past the page; said so that it need not be checked.
            for (word, mask) in words.into_iter().zip(masks.to_le_bytes()) {
                put(&mut self.bytes, at % PAGE, reorder(word, TO_FRONT[mask as usize]));
                at += mask.count_ones() as usize;
            }
            *group = mask_of(masks);
            put(&mut self.masks, masks_len % WORDS, reorder(masks, TO_FRONT[*group as usize]));
            masks_len += group.count_ones() as usize;
        }
        out.extend_from_slice(&groups);
        out.extend_from_slice(&self.masks[..masks_len]);
        out.extend_from_slice(&self.bytes[..at]);
    }
}

#[inline(always)]
fn put(bytes: &mut [u8], at: usize, word: u64) {
    bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
}

#[inline(always)]
fn get(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[inline(always)]
fn ones(masks: &[u8]) -> usize {
    let (eights, rest) = masks.as_chunks();
    let eights = eights.iter().map(|eight| u64::from_le_bytes(*eight).count_ones());
    eights.chain(rest.iter().map(|mask| mask.count_ones())).sum::<u32>() as usize
}

/// The page at the start of `packed`: its groups, its masks, and its bytes with what is behind
/// them; none if it is cut off.
#[inline(always)]
fn parts(packed: &[u8]) -> Option<(&[u8; GROUPS], &[u8], &[u8])> {
    let (groups, rest) = packed.split_first_chunk()?;
    let (masks, bytes) = rest.split_at_checked(ones(groups))?;
    (ones(masks) <= bytes.len()).then_some((groups, masks, bytes))
}

/// What is behind the page at the start of `packed`; none if it is cut off.
pub(crate) fn skip(packed: &[u8]) -> Option<&[u8]> {
    #[cfg(target_arch = "x86_64")]
    if quick::is_there() {
        // SAFETY: the processor has what it needs.
        return unsafe { quick::skip(packed) };
    }
    skip_by(packed)
}

#[inline(always)]
fn skip_by(packed: &[u8]) -> Option<&[u8]> {
    let (_, masks, bytes) = parts(packed)?;
    bytes.get(ones(masks)..)
}

/// Reads a page from the start of `packed` and gives what is behind it; none if it is cut off.
pub(crate) fn unpack<'a>(packed: &'a [u8], page: &mut Page) -> Option<&'a [u8]> {
    #[cfg(target_arch = "x86_64")]
    if quick::is_there() {
        // SAFETY: the processor has what it needs.
        return unsafe { quick::unpack(packed, page) };
    }
    unpack_by(packed, page, reorder)
}

#[inline(always)]
fn unpack_by<'a>(
    packed: &'a [u8],
    page: &mut Page,
    reorder: impl Fn(u64, u64) -> u64,
) -> Option<&'a [u8]> {
    let (groups, masks, rest) = parts(packed)?;
    let (mut masks_room, mut bytes_room);
    let masks: &[u8; MASKS_ROOM] = if let Some(whole) = packed[GROUPS..].first_chunk() {
        whole
    } else {
        masks_room = [0; MASKS_ROOM];
        masks_room[..masks.len()].copy_from_slice(masks);
        &masks_room
    };
    let bytes: &[u8; BYTES_ROOM] = if let Some(whole) = rest.first_chunk() {
        whole
    } else {
        bytes_room = [0; BYTES_ROOM];
        bytes_room[..rest.len()].copy_from_slice(rest);
        &bytes_room
    };
    let (mut masks_at, mut at) = (0, 0);
    for (words, group) in page.as_chunks_mut::<8>().0.iter_mut().zip(groups) {
        if *group == 0 {
            *words = [0; 8];
            continue;
        }
        let eight = reorder(get(masks, masks_at % WORDS), TO_PLACE[*group as usize]);
        masks_at += group.count_ones() as usize;
        for (word, mask) in words.iter_mut().zip(eight.to_le_bytes()) {
            *word = reorder(get(bytes, at % PAGE), TO_PLACE[mask as usize]);
            at += mask.count_ones() as usize;
        }
        for word in words {
            *word = unfold(*word);
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

    fn packed(page: &Page) -> Vec<u8> {
        let mut packed = Vec::new();
        Packer::new().pack(page, &mut packed);
        let mut portable = Packer::new();
        let mut same = Vec::new();
        let masks_of = |words: &Group| u64::from_le_bytes(words.map(mask_of));
        portable.pack_by(page, &mut same, masks_of, reorder);
        assert_eq!(packed, same);
        packed
    }

    fn unpacked<'a>(packed: &'a [u8], page: &mut Page) -> Option<&'a [u8]> {
        let rest = unpack(packed, page);
        let mut same = [2; WORDS];
        assert_eq!(unpack_by(packed, &mut same, reorder), rest);
        assert!(rest.is_none() || same == *page);
        assert_eq!(skip(packed), rest);
        rest
    }

    #[test]
    fn pages_come_back_and_nothing_is_read_past_the_end() {
        let full = [0x8123_4567_89ab_cdef; WORDS];
        for page in (0..500).map(some_page).chain([[0; WORDS], full]) {
            let mut packed = packed(&page);
            let mut back = [1; WORDS];
            assert_eq!(unpacked(&packed, &mut back), Some(&[][..]));
            assert_eq!(back, page);
            let whole = packed.len();
            packed.extend_from_slice(b"more");
            assert_eq!(unpacked(&packed, &mut back), Some(&b"more"[..]));
            for cut in [0, 1, GROUPS - 1, GROUPS, whole / 2, whole - 1] {
                if cut < whole {
                    assert_eq!(unpacked(&packed[..cut], &mut back), None, "{cut} of {whole}");
                }
            }
        }
    }

    #[test]
    fn words_at_the_borders_of_every_form() {
        let mut page: Page = [0; WORDS];
        let base = BASE as u64;
        let mut words = vec![base, base | 1, base | 0xffff, base | 0x1_0000, base | 0xffff_ffff];
        words.extend([base - 1, base + (1 << 32), base << 1, !base]);
        for bits in 0..64 {
            let power = 1u64 << bits;
            words.extend([power, power - 1, power + 1, !power, power.wrapping_neg()]);
        }
        page[..words.len()].copy_from_slice(&words);
        let mut back = [1; WORDS];
        assert_eq!(unpacked(&packed(&page), &mut back), Some(&[][..]));
        assert_eq!(back, page);
    }

    #[test]
    fn what_is_frequent_is_short() {
        let one = |word: u64| {
            let mut page: Page = [0; WORDS];
            page[7] = word;
            packed(&page).len() - GROUPS - 1
        };
        assert_eq!([1, 127, u64::MAX, !127].map(one), [1; 4]);
        assert_eq!([BASE as u64 + 0x12_3450, BASE as u64 + 0x4fff_fff0].map(one), [3, 4]);
    }
}
