//! Images: what differs from the template, page by page, compressed.
//!
//! Layout: [`Head`] as little-endian words, then one LZ4 block of page numbers (u32 each),
//! the cell's tables, and the pages (each combined by xor with
//! the template's page where there is one).
//! Only taken between jobs, when no native frame is live; only restored in a fresh fork.

use std::cell::{Cell, RefCell};

use xxhash_rust::xxh3::xxh3_64;

use crate::arena::{self, BASE, PAGE, SIZE};
use crate::single::SingleThread;

const MAGIC: u64 = u64::from_le_bytes(*b"codemode");
const FORMAT: u64 = 2;
const HEAD: usize = 9 * 8;

struct Template {
    /// Arena contents when the template was sealed, whole pages.
    pristine: RefCell<Vec<u8>>,
    hash: Cell<u64>,
    build: Cell<u64>,
    used: Cell<usize>,
}

static TEMPLATE: SingleThread<Template> = SingleThread::new(Template {
    pristine: RefCell::new(Vec::new()),
    hash: Cell::new(0),
    build: Cell::new(0),
    used: Cell::new(0),
});

/// Why an image was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum RestoreError {
    #[error("this is not an image of a suspended program")]
    NotAnImage,
    #[error("the image has another format version")]
    OtherFormat,
    #[error("the image was taken by another build of codemode")]
    OtherBuild,
    #[error("the image was taken from another template (other machine or engine set-up)")]
    OtherTemplate,
    #[error("the image is damaged")]
    Damaged,
}

/// An image over the limit: its size in bytes before compression.
#[derive(Debug)]
pub(crate) struct TooLarge(pub(crate) u64);

/// Remembers the arena as the template. `stack` is the address range of the native stack:
/// words that point there differ between processes and do not count for the hash.
pub(crate) fn seal(build: u64, stack: std::ops::Range<usize>) {
    let end = arena::high_water().next_multiple_of(PAGE);
    let bytes = arena::bytes(BASE, end).to_vec();
    let mut hashed = bytes.clone();
    for word in hashed.chunks_exact_mut(8) {
        let value = usize::from_le_bytes(word.try_into().expect("eight bytes"));
        if stack.contains(&value) {
            word.fill(0);
        }
    }
    let t = TEMPLATE.get();
    t.hash.set(xxh3_64(&hashed));
    t.build.set(build);
    t.used.set(arena::used());
    *t.pristine.borrow_mut() = bytes;
}

/// Bytes of the sealed template.
pub fn template_bytes() -> usize {
    TEMPLATE.get().pristine.borrow().len()
}

/// Bytes in use in the sealed template.
pub(crate) fn template_used() -> usize {
    TEMPLATE.get().used.get()
}

/// Identity of the sealed template.
pub fn template_hash() -> u64 {
    TEMPLATE.get().hash.get()
}

/// Addresses in the arena whose word lies in one of `ranges`: a debug check that nothing in the
/// VM points to memory that an image does not carry.
pub fn words_into(ranges: &[std::ops::Range<usize>]) -> Vec<usize> {
    let top = arena::high_water().next_multiple_of(PAGE);
    let words = arena::bytes(BASE, top).chunks_exact(8).enumerate();
    words
        .filter(|(_, word)| {
            let value = usize::from_le_bytes((*word).try_into().expect("eight bytes"));
            ranges.iter().any(|range| range.contains(&value))
        })
        .map(|(at, _)| BASE + at * 8)
        .collect()
}

/// Bytes above the template that were touched.
pub(crate) fn grown() -> usize {
    let end = BASE + TEMPLATE.get().pristine.borrow().len();
    arena::high_water().next_multiple_of(PAGE).saturating_sub(end)
}

/// Puts the arena back to the template.
pub(crate) fn reset() {
    let pristine = TEMPLATE.get().pristine.borrow();
    let top = arena::high_water().next_multiple_of(PAGE);
    let end = BASE + pristine.len();
    if top > end {
        arena::bytes_mut(end, top).fill(0);
    }
    // Page by page: writing one that is as it was would make a copy of it for nothing.
    let pages = arena::bytes_mut(BASE, end).chunks_exact_mut(PAGE);
    for (page, original) in pages.zip(pristine.chunks_exact(PAGE)) {
        if page != original {
            page.copy_from_slice(original);
        }
    }
}

/// Takes an image. Gives its bytes and its size before compression.
pub(crate) fn take(tables: &[u8], max: u64) -> Result<(Vec<u8>, u64), TooLarge> {
    let pristine = TEMPLATE.get().pristine.borrow();
    let mut free = Vec::new();
    arena::free_ranges(|from, to| free.push((from, to)));
    let top = arena::high_water().next_multiple_of(PAGE);
    let mut numbers: Vec<u32> = Vec::new();
    let mut pages: Vec<u8> = Vec::new();
    let mut next_free = 0;
    for (number, start) in (BASE..top).step_by(PAGE).enumerate() {
        let end = start + PAGE;
        while next_free < free.len() && free[next_free].1 <= start {
            next_free += 1;
        }
        if free.get(next_free).is_some_and(|(from, to)| *from <= start && end <= *to) {
            continue;
        }
        let page = arena::bytes(start, end);
        let original = pristine.get(start - BASE..end - BASE);
        if original == Some(page) {
            continue;
        }
        let at = pages.len();
        pages.extend_from_slice(page);
        let copy = &mut pages[at..];
        if let Some(original) = original {
            for (byte, was) in copy.iter_mut().zip(original) {
                *byte ^= was;
            }
        }
        for (from, to) in free[next_free..].iter().take_while(|(from, _)| *from < end) {
            copy[(*from).max(start) - start..(*to).min(end) - start].fill(0);
        }
        if copy.iter().all(|b| *b == 0) {
            pages.truncate(at);
            continue;
        }
        numbers.push(number as u32);
        if (pages.len() + tables.len()) as u64 > max {
            return Err(TooLarge(live_bytes()));
        }
    }
    let size = (pages.len() + tables.len()) as u64;
    if size > max {
        return Err(TooLarge(size));
    }
    let mut raw = Vec::with_capacity(numbers.len() * 4 + tables.len() + pages.len());
    for number in &numbers {
        raw.extend_from_slice(&number.to_le_bytes());
    }
    raw.extend_from_slice(tables);
    raw.append(&mut pages);
    let packed = lz4_flex::block::compress(&raw);
    let t = TEMPLATE.get();
    let mut image = Vec::with_capacity(HEAD + packed.len());
    let words = [
        MAGIC,
        FORMAT,
        t.build.get(),
        t.hash.get(),
        SIZE as u64,
        numbers.len() as u64,
        tables.len() as u64,
        raw.len() as u64,
        xxh3_64(&packed),
    ];
    for word in words {
        image.extend_from_slice(&word.to_le_bytes());
    }
    image.extend_from_slice(&packed);
    Ok((image, size))
}

fn live_bytes() -> u64 {
    arena::used().saturating_sub(template_used()) as u64
}

/// Longest output of LZ4 per byte of input.
const MAX_RATIO: usize = 255;

/// An image whose every count was checked.
struct Unpacked {
    raw: Vec<u8>,
    /// How many pages there are.
    count: usize,
    tables_len: usize,
}

impl Unpacked {
    /// Number and content of each page.
    fn pages(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let numbers = self.raw[..self.count * 4].chunks_exact(4);
        let numbers =
            numbers.map(|n| u32::from_le_bytes(n.try_into().expect("four bytes")) as usize);
        numbers.zip(self.raw[self.count * 4 + self.tables_len..].chunks_exact(PAGE))
    }

    fn tables(&self) -> &[u8] {
        &self.raw[self.count * 4..][..self.tables_len]
    }
}

/// Reads an image. Whoever can write one can also make its checksum: nothing in it is believed.
fn unpack(image: &[u8]) -> Result<Unpacked, RestoreError> {
    let (head, packed) = image.split_at_checked(HEAD).ok_or(RestoreError::NotAnImage)?;
    let mut words = head.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().expect("eight")));
    let mut next = || words.next().expect("HEAD has nine words");
    if next() != MAGIC {
        return Err(RestoreError::NotAnImage);
    }
    if next() != FORMAT {
        return Err(RestoreError::OtherFormat);
    }
    let t = TEMPLATE.get();
    if next() != t.build.get() {
        return Err(RestoreError::OtherBuild);
    }
    if next() != t.hash.get() || next() != SIZE as u64 {
        return Err(RestoreError::OtherTemplate);
    }
    let [count, tables_len, raw_len, sum] = [next(), next(), next(), next()].map(|v| v as usize);
    if xxh3_64(packed) != sum as u64 {
        return Err(RestoreError::Damaged);
    }
    let expected = count.checked_mul(PAGE + 4).and_then(|n| n.checked_add(tables_len));
    // What cannot come out of so few bytes is not made room for.
    let most = SIZE.min(packed.len().saturating_mul(MAX_RATIO));
    if expected.is_none_or(|n| n != raw_len || n > most) {
        return Err(RestoreError::Damaged);
    }
    let raw = lz4_flex::block::decompress(packed, raw_len).map_err(|_| RestoreError::Damaged)?;
    let unpacked = Unpacked { raw, count, tables_len };
    if unpacked.raw.len() != raw_len || unpacked.pages().any(|(number, _)| number >= SIZE / PAGE) {
        return Err(RestoreError::Damaged);
    }
    Ok(unpacked)
}

/// Reads an image as [`restore`] does, but for its pages, and drops it: for fuzzing, which would
/// soon run on an arena of nonsense.
#[doc(hidden)]
pub fn inspect(image: &[u8]) -> Result<(), RestoreError> {
    let unpacked = unpack(image)?;
    crate::cell::Cell::from_bytes(unpacked.tables()).map(drop).ok_or(RestoreError::Damaged)
}

/// Puts an image into the arena of a fresh fork and gives the cell's tables. A refused one has
/// changed nothing.
pub(crate) fn restore(image: &[u8]) -> Result<Vec<u8>, RestoreError> {
    let unpacked = unpack(image)?;
    let pristine = TEMPLATE.get().pristine.borrow();
    for (number, page) in unpacked.pages() {
        let start = BASE + number * PAGE;
        let target = arena::bytes_mut(start, start + PAGE);
        target.copy_from_slice(page);
        if let Some(original) = pristine.get(start - BASE..start - BASE + PAGE) {
            for (byte, was) in target.iter_mut().zip(original) {
                *byte ^= was;
            }
        }
    }
    Ok(unpacked.tables().to_vec())
}
