//! Images: what differs from the template, page by page, packed.
//!
//! Layout: nine little-endian words, then the body: the pages (each combined by xor with the
//! template's page where there is one) in the form of [`crate::pack`], their numbers (u32 each)
//! and the cell's tables. The body is kept as one LZ4 block where that is worth its time.
//! Only taken between jobs, when no native frame is live; only restored in a fresh fork.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use xxhash_rust::xxh3::xxh3_64;

use crate::arena::{self, BASE, PAGE, Page, SIZE};
use crate::pack;
use crate::single::SingleThread;

const MAGIC: u64 = u64::from_le_bytes(*b"codemode");
const FORMAT: u64 = 3;
const HEAD: usize = 9 * 8;
/// LZ4 takes longer than everything else together: a body of more bytes than this is only
/// compressed if a sample of so many bytes at least halves.
const SAMPLE: usize = 64 << 10;

struct Template {
    /// Arena contents when the template was sealed.
    pristine: RefCell<Vec<Page>>,
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
    let pages: Vec<Page> = (BASE..arena::top()).step_by(PAGE).map(|at| *arena::page(at)).collect();
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    for page in &pages {
        let mut bytes = [0; PAGE];
        for (at, word) in bytes.chunks_exact_mut(8).zip(page) {
            let counted = if stack.contains(&(*word as usize)) { 0 } else { *word };
            at.copy_from_slice(&counted.to_le_bytes());
        }
        hash.update(&bytes);
    }
    let t = TEMPLATE.get();
    t.hash.set(hash.digest());
    t.build.set(build);
    t.used.set(arena::used());
    *t.pristine.borrow_mut() = pages;
}

/// Bytes of the sealed template.
pub fn template_bytes() -> usize {
    TEMPLATE.get().pristine.borrow().len() * PAGE
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
    let mut found = Vec::new();
    for at in (BASE..arena::top()).step_by(PAGE) {
        for (n, word) in arena::page(at).iter().enumerate() {
            if ranges.iter().any(|range| range.contains(&(*word as usize))) {
                found.push(at + n * 8);
            }
        }
    }
    found
}

/// Bytes above the template that were touched.
pub(crate) fn grown() -> usize {
    arena::top().saturating_sub(BASE + template_bytes())
}

/// Puts the arena back to the template.
pub(crate) fn reset() {
    let pristine = TEMPLATE.get().pristine.borrow();
    let top = arena::top();
    // Page by page: writing one that is as it was would make a copy of it for nothing.
    for (at, original) in (BASE..top).step_by(PAGE).zip(pristine.iter()) {
        if arena::page(at) != original {
            *arena::page_mut(at) = *original;
        }
    }
    for at in (BASE + pristine.len() * PAGE..top).step_by(PAGE) {
        arena::page_mut(at).fill(0);
    }
}

/// The free blocks of the arena, from page to page.
struct FreeBlocks(std::iter::Peekable<std::vec::IntoIter<(usize, usize)>>);

impl FreeBlocks {
    fn new() -> Self {
        let mut free = Vec::new();
        arena::free_ranges(|from, to| free.push((from, to)));
        Self(free.into_iter().peekable())
    }

    /// Calls `each` with the free bytes `[from, to)` of the page at `start`; pages ascend.
    fn of_page(&mut self, start: usize, mut each: impl FnMut(usize, usize)) {
        let end = start + PAGE;
        while let Some((from, to)) = self.0.peek().copied().filter(|(from, _)| *from < end) {
            if to > start {
                each(from.max(start) - start, to.min(end) - start);
            }
            if to > end {
                return;
            }
            self.0.next();
        }
    }
}

/// Takes an image. Gives its bytes and its size before compression.
pub(crate) fn take(tables: &[u8], max: u64) -> Result<(Vec<u8>, u64), TooLarge> {
    let t = TEMPLATE.get();
    let pristine = t.pristine.borrow();
    let mut free = FreeBlocks::new();
    let mut numbers: Vec<u8> = Vec::new();
    let mut image = vec![0; HEAD];
    let mut packer = pack::Packer::new();
    let mut count = 0;
    let size = |count: u64| count * PAGE as u64 + tables.len() as u64;
    for (number, start) in (BASE..arena::top()).step_by(PAGE).enumerate() {
        let original = pristine.get(number);
        let live = arena::page(start);
        if original == Some(live) {
            continue;
        }
        let mut changed = original.map(|original| {
            let mut page = *live;
            combine(&mut page, original);
            page
        });
        // Blocks begin and end at whole words.
        free.of_page(start, |from, to| {
            changed.get_or_insert(*live)[from / 8..to / 8].fill(0);
        });
        let page = changed.as_ref().unwrap_or(live);
        if page.iter().all(|word| *word == 0) {
            continue;
        }
        numbers.extend_from_slice(&(number as u32).to_le_bytes());
        count += 1;
        if size(count) > max {
            return Err(TooLarge(live_bytes()));
        }
        packer.pack(page, &mut image);
    }
    if size(count) > max {
        return Err(TooLarge(size(count)));
    }
    image.extend_from_slice(&numbers);
    image.extend_from_slice(tables);
    let body_len = image.len() - HEAD;
    if let Some(squeezed) = squeeze(&image[HEAD..]) {
        image.truncate(HEAD);
        image.extend_from_slice(&squeezed);
    }
    let words = [
        MAGIC,
        FORMAT,
        t.build.get(),
        t.hash.get(),
        SIZE as u64,
        count,
        tables.len() as u64,
        body_len as u64,
        xxh3_64(&image[HEAD..]),
    ];
    for (at, word) in image.chunks_exact_mut(8).zip(words) {
        at.copy_from_slice(&word.to_le_bytes());
    }
    Ok((image, size(count)))
}

/// Turns a page into how it differs from `original`, and back.
fn combine(page: &mut Page, original: &Page) {
    for (word, was) in page.iter_mut().zip(original) {
        *word ^= was;
    }
}

/// The LZ4 block of `body`, which is always shorter; none if it is not worth it.
fn squeeze(body: &[u8]) -> Option<Vec<u8>> {
    if body.len() > 2 * SAMPLE {
        let sample = &body[body.len() / 2..][..SAMPLE];
        if lz4_flex::block::compress(sample).len() > SAMPLE / 2 {
            return None;
        }
    }
    Some(lz4_flex::block::compress(body)).filter(|squeezed| squeezed.len() < body.len())
}

fn live_bytes() -> u64 {
    arena::used().saturating_sub(template_used()) as u64
}

/// Longest output of LZ4 per byte of input.
const MAX_RATIO: usize = 255;

/// The body of an image whose every count was checked.
struct Body<'a> {
    bytes: Cow<'a, [u8]>,
    numbers_at: usize,
    tables_at: usize,
}

impl Body<'_> {
    fn packed_pages(&self) -> &[u8] {
        &self.bytes[..self.numbers_at]
    }

    fn numbers(&self) -> impl Iterator<Item = usize> {
        self.bytes[self.numbers_at..self.tables_at]
            .chunks_exact(4)
            .map(|n| u32::from_le_bytes(n.try_into().expect("four bytes")) as usize)
    }

    fn tables(&self) -> &[u8] {
        &self.bytes[self.tables_at..]
    }

    /// Whether each page has its number, and is whole.
    fn is_whole(&self) -> bool {
        let mut rest = Some(self.packed_pages());
        for number in self.numbers() {
            rest = rest.and_then(pack::skip).filter(|_| number < SIZE / PAGE);
        }
        rest.is_some_and(<[u8]>::is_empty)
    }
}

/// Reads an image. Whoever can write one can also make its checksum: nothing in it is believed.
fn open(image: &[u8]) -> Result<Body<'_>, RestoreError> {
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
    let [count, tables_len, body_len, sum] = [next(), next(), next(), next()].map(|v| v as usize);
    // What cannot come out of so few bytes is not made room for.
    let most = SIZE.min(packed.len().saturating_mul(MAX_RATIO));
    if xxh3_64(packed) != sum as u64 || body_len > most {
        return Err(RestoreError::Damaged);
    }
    let bytes = if packed.len() == body_len {
        Cow::Borrowed(packed)
    } else {
        let body = lz4_flex::block::decompress(packed, body_len);
        Cow::Owned(body.map_err(|_| RestoreError::Damaged)?)
    };
    let tables_at = bytes.len().checked_sub(tables_len).ok_or(RestoreError::Damaged)?;
    let numbers_at = count.checked_mul(4).and_then(|n| tables_at.checked_sub(n));
    let body = Body { numbers_at: numbers_at.ok_or(RestoreError::Damaged)?, bytes, tables_at };
    if body.bytes.len() == body_len && body.is_whole() {
        Ok(body)
    } else {
        Err(RestoreError::Damaged)
    }
}

/// Reads an image as [`restore`] does, but for its pages, and drops it: for fuzzing, which would
/// soon run on an arena of nonsense.
#[doc(hidden)]
pub fn inspect(image: &[u8]) -> Result<(), RestoreError> {
    let body = open(image)?;
    crate::cell::Cell::from_bytes(body.tables()).map(drop).ok_or(RestoreError::Damaged)
}

/// Puts an image into the arena of a fresh fork and gives the cell's tables. A refused one has
/// changed nothing.
pub(crate) fn restore(image: &[u8]) -> Result<Vec<u8>, RestoreError> {
    let body = open(image)?;
    let pristine = TEMPLATE.get().pristine.borrow();
    let mut rest = body.packed_pages();
    for number in body.numbers() {
        let page = arena::page_mut(BASE + number * PAGE);
        rest = pack::unpack(rest, page).ok_or(RestoreError::Damaged)?;
        if let Some(original) = pristine.get(number) {
            combine(page, original);
        }
    }
    Ok(body.tables().to_vec())
}
