//! Images: what differs from the template, page by page (combined by xor with the template's page
//! where there is one), in the form of [`crate::image`].
//!
//! Only taken between jobs, when no native frame is live; only restored in a fresh fork.

use std::cell::{Cell, RefCell};

use crate::arena::{self, BASE, PAGE, Page};
use crate::image::{self, Identity, RestoreError};
use crate::pack;
use crate::single::SingleThread;

struct Template {
    /// Arena contents when the template was sealed.
    pristine: RefCell<Vec<Page>>,
    identity: Cell<Identity>,
    used: Cell<usize>,
}

static TEMPLATE: SingleThread<Template> = SingleThread::new(Template {
    pristine: RefCell::new(Vec::new()),
    identity: Cell::new(Identity { build: 0, template: 0 }),
    used: Cell::new(0),
});

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
    t.identity.set(Identity { build, template: hash.digest() });
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
    TEMPLATE.get().identity.get().template
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

/// Takes an image: what `send` did not get, as frames, and its size before compression.
pub(crate) fn take(
    tables: &[u8],
    max: u64,
    send: &mut dyn FnMut(&[u8]),
) -> Result<(Vec<u8>, u64), TooLarge> {
    let t = TEMPLATE.get();
    let pristine = t.pristine.borrow();
    let mut free = FreeBlocks::new();
    let mut numbers: Vec<u8> = Vec::new();
    let mut image = image::Writer::new(t.identity.get(), send);
    let mut packer = pack::Packer::new();
    let size = |numbers: &[u8]| (numbers.len() / 4 * PAGE + tables.len()) as u64;
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
        if size(&numbers) > max {
            return Err(TooLarge(live_bytes()));
        }
        image.page(|out| packer.pack(page, out));
    }
    if size(&numbers) > max {
        return Err(TooLarge(size(&numbers)));
    }
    Ok((image.end(&numbers, tables), size(&numbers)))
}

/// Turns a page into how it differs from `original`, and back.
fn combine(page: &mut Page, original: &Page) {
    for (word, was) in page.iter_mut().zip(original) {
        *word ^= was;
    }
}

fn live_bytes() -> u64 {
    arena::used().saturating_sub(template_used()) as u64
}

/// Reads an image as [`restore`] does, but for its pages, and drops it: for fuzzing, which would
/// soon run on an arena of nonsense.
#[doc(hidden)]
pub fn inspect(image: &[u8]) -> Result<(), RestoreError> {
    let body = image::open(image, TEMPLATE.get().identity.get())?;
    crate::cell::Cell::from_bytes(body.tables()).map(drop).ok_or(RestoreError::Damaged)
}

/// Puts an image into the arena of a fresh fork and gives the cell's tables. A refused one has
/// changed nothing.
pub(crate) fn restore(image: &[u8]) -> Result<Vec<u8>, RestoreError> {
    let t = TEMPLATE.get();
    let body = image::open(image, t.identity.get())?;
    let pristine = t.pristine.borrow();
    let mut numbers = body.numbers().peekable();
    for mut rest in body.pages() {
        while let Some(number) = numbers.next_if(|_| !rest.is_empty()) {
            let page = arena::page_mut(BASE + number * PAGE);
            rest = pack::unpack(rest, page).ok_or(RestoreError::Damaged)?;
            if let Some(original) = pristine.get(number) {
                combine(page, original);
            }
        }
    }
    Ok(body.tables().to_vec())
}
