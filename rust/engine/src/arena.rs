//! The arena: every byte of the VM in one mapping at one address.
//!
//! Invariants that the `unsafe` blocks cite:
//! - A1: the mapping `[BASE, BASE + SIZE)` is made once per process, before any other call
//!   here, and never unmapped.
//! - A2: the process has one thread, so nothing else touches the header while a function runs.
//! - A3: the allocator's own state lies in the header at `BASE`; its pool is the rest. Every
//!   pointer handed out came from that pool.

#![allow(unsafe_code)]

use std::alloc::Layout;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{self, NonNull, slice_from_raw_parts_mut};

use rlsf::Tlsf;
#[cfg(not(codemode_sanitize))]
use rquickjs_sys::JSMallocFunctions;
use rquickjs_sys::size_t;

use crate::single::SingleThread;
use crate::vm;

/// Where the arena lies in every process of every build.
#[cfg(not(codemode_sanitize))]
pub(crate) const BASE: usize = 0x100_0000_0000;
/// `AddressSanitizer` keeps its shadow where the arena lies otherwise.
#[cfg(codemode_sanitize)]
pub(crate) const BASE: usize = 0x2000_0000_0000;
/// Address space of the arena: the largest memory limit plus the template and fragmentation.
pub(crate) const SIZE: usize = (1 << 30) + (256 << 20);
pub(crate) const PAGE: usize = 4096;
/// From here on memory comes in large pages, where the kernel has them: a small cell stays below,
/// a large one would spend more time on page faults than on its own work.
const LARGE: usize = 2 << 20;
/// One page, as words.
pub(crate) type Page = [u64; PAGE / 8];
const HEADER: usize = 2 * PAGE;
const ALIGN: usize = 16;
/// What the allocator keeps at the start of a free block.
const FREE_HEADER: usize = 32;

type Pool = Tlsf<'static, u32, u8, 26, 8>;

#[repr(C)]
struct Header {
    /// Bytes in blocks that are in use.
    used: usize,
    /// End of the highest block ever handed out; pages beyond it were never touched.
    high_water: usize,
    pool: Pool,
}

const _: () = assert!(size_of::<Header>() <= HEADER);

/// What of the limit lies outside the arena: it belongs to a leg, not to an image.
struct Limit {
    max_used: Cell<usize>,
    hit: Cell<bool>,
    /// Fault injection: fail the allocation after this many.
    fail_after: Cell<Option<u64>>,
}

static LIMIT: SingleThread<Limit> = SingleThread::new(Limit {
    max_used: Cell::new(usize::MAX),
    hit: Cell::new(false),
    fail_after: Cell::new(None),
});

/// The arena could not be mapped at its address.
#[derive(Debug, thiserror::Error)]
#[error("cannot map {SIZE} bytes at {BASE:#x}: {0}")]
pub struct MapError(std::io::Error);

/// Maps the arena and makes it one free block.
pub(crate) fn map() -> Result<(), MapError> {
    // SAFETY: a fresh anonymous mapping; NOREPLACE refuses to take anybody's pages.
    let got = unsafe {
        libc::mmap(
            BASE as *mut c_void,
            SIZE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE
                | libc::MAP_ANONYMOUS
                | libc::MAP_NORESERVE
                | libc::MAP_FIXED_NOREPLACE,
            -1,
            0,
        )
    };
    if got as usize != BASE {
        return Err(MapError(std::io::Error::last_os_error()));
    }
    // SAFETY: the range lies in the mapping; advice changes no contents. A kernel that does not
    // take it costs time only.
    unsafe {
        // Not the end either, where the allocator puts a mark.
        libc::madvise((BASE + LARGE) as *mut c_void, SIZE - 2 * LARGE, libc::MADV_HUGEPAGE);
    }
    // SAFETY: A1, A2; the header is written before it is read.
    unsafe {
        let header = BASE as *mut Header;
        ptr::addr_of_mut!((*header).used).write(0);
        ptr::addr_of_mut!((*header).high_water).write(BASE + HEADER);
        ptr::addr_of_mut!((*header).pool).write(Pool::new());
        (*header).pool.insert_free_block_ptr(pool_range());
    }
    Ok(())
}

fn pool_range() -> NonNull<[u8]> {
    let start = (BASE + HEADER) as *mut u8;
    NonNull::new(slice_from_raw_parts_mut(start, SIZE - HEADER)).expect("BASE is not null")
}

#[allow(clippy::mut_from_ref)]
fn header() -> &'static mut Header {
    // SAFETY: A1, A2, A3; no caller keeps the reference over a call.
    unsafe { &mut *(BASE as *mut Header) }
}

/// Bytes in use.
pub(crate) fn used() -> usize {
    header().used
}

/// First address that no block ever reached.
fn high_water() -> usize {
    header().high_water
}

/// End of the pages that were ever touched: the blocks, and the header of the free block that
/// begins where the highest of them ends.
pub(crate) fn top() -> usize {
    (high_water() + FREE_HEADER).next_multiple_of(PAGE).min(BASE + SIZE)
}

/// Allows `bytes` in use in all and clears the flag.
pub(crate) fn set_limit(bytes: usize) {
    LIMIT.get().max_used.set(bytes);
    LIMIT.get().hit.set(false);
}

/// Whether an allocation was refused since the limit was set. Sticky: what the guest makes of
/// the refusal is never asked.
pub(crate) fn limit_hit() -> bool {
    LIMIT.get().hit.get()
}

/// Makes the allocation after `n` more fail, as at the limit. Gives what was left of the order
/// before.
pub fn fail_after(n: Option<u64>) -> Option<u64> {
    LIMIT.get().fail_after.replace(n)
}

fn admit(extra: usize) -> bool {
    let limit = LIMIT.get();
    if let Some(n) = limit.fail_after.get() {
        limit.fail_after.set(n.checked_sub(1));
        if n == 0 {
            return refuse();
        }
    }
    if header().used.saturating_add(extra) > limit.max_used.get() {
        return refuse();
    }
    true
}

/// Notes that memory is exhausted. The engine's own ways out of a failed allocation are not
/// safe (it may collect garbage while an object is half changed), so where a handler is set the
/// process ends inside this call.
fn refuse() -> bool {
    LIMIT.get().hit.set(true);
    vm::memory_exhausted();
    false
}

fn size_of_block(block: NonNull<u8>) -> usize {
    // SAFETY: A3.
    unsafe { Pool::allocation_usable_size(block) }
}

fn took(block: NonNull<u8>) {
    let size = size_of_block(block);
    let header = header();
    header.used += size;
    header.high_water = header.high_water.max(block.as_ptr() as usize + size);
}

/// The engine's allocator.
#[cfg(not(codemode_sanitize))]
pub(crate) static FUNCTIONS: JSMallocFunctions = JSMallocFunctions {
    js_calloc: Some(calloc),
    js_malloc: Some(malloc),
    js_free: Some(free),
    js_realloc: Some(realloc),
    js_malloc_usable_size: Some(usable_size),
};
#[cfg(codemode_sanitize)]
pub(crate) use crate::sanitize::FUNCTIONS;

pub(crate) unsafe extern "C" fn malloc(_: *mut c_void, size: size_t) -> *mut c_void {
    let size = size as usize;
    if !admit(size) {
        return ptr::null_mut();
    }
    let Ok(layout) = Layout::from_size_align(size, ALIGN) else { return ptr::null_mut() };
    let Some(block) = header().pool.allocate(layout) else {
        refuse();
        return ptr::null_mut();
    };
    took(block);
    block.as_ptr().cast()
}

#[cfg(not(codemode_sanitize))]
pub(crate) unsafe extern "C" fn calloc(
    opaque: *mut c_void,
    count: size_t,
    size: size_t,
) -> *mut c_void {
    let Some(bytes) = count.checked_mul(size) else { return ptr::null_mut() };
    let before = high_water();
    // SAFETY: same contract as malloc; the block has at least `bytes` bytes.
    unsafe {
        let block = malloc(opaque, bytes);
        let bytes = bytes as usize;
        if !block.is_null() {
            // Above the old high water and the header of the free block that began there, pages
            // are still the kernel's zeros: leave them untouched.
            let dirty = (before + FREE_HEADER).saturating_sub(block as usize).min(bytes);
            ptr::write_bytes(block.cast::<u8>(), 0, dirty);
        }
        block
    }
}

pub(crate) unsafe extern "C" fn free(_: *mut c_void, block: *mut c_void) {
    let Some(block) = NonNull::new(block.cast::<u8>()) else { return };
    header().used -= size_of_block(block);
    // SAFETY: A3; the engine frees a block once.
    unsafe { header().pool.deallocate(block, ALIGN) };
}

#[cfg(not(codemode_sanitize))]
pub(crate) unsafe extern "C" fn realloc(
    opaque: *mut c_void,
    block: *mut c_void,
    size: size_t,
) -> *mut c_void {
    // SAFETY: A3; `block` is null or a live block of this pool.
    unsafe {
        let Some(old) = NonNull::new(block.cast::<u8>()) else { return malloc(opaque, size) };
        let size = size as usize;
        if size == 0 {
            free(opaque, block);
            return ptr::null_mut();
        }
        let old_size = size_of_block(old);
        if size > old_size && !admit(size - old_size) {
            return ptr::null_mut();
        }
        let Ok(layout) = Layout::from_size_align(size, ALIGN) else { return ptr::null_mut() };
        let Some(new) = header().pool.reallocate(old, layout) else {
            refuse();
            return ptr::null_mut();
        };
        header().used -= old_size;
        took(new);
        new.as_ptr().cast()
    }
}

pub(crate) unsafe extern "C" fn usable_size(block: *const c_void) -> size_t {
    NonNull::new(block.cast_mut().cast::<u8>()).map_or(0, size_of_block) as size_t
}

/// Runs `f`, which copies or replaces the arena as a whole.
#[cfg(not(codemode_sanitize))]
pub(crate) fn whole<R>(f: impl FnOnce() -> R) -> R {
    f()
}
#[cfg(codemode_sanitize)]
pub(crate) use crate::sanitize::whole;

/// Calls `each` with the payload range of every free block below the high water, ascending.
/// The allocator's own header at the start of a free block stays.
pub(crate) fn free_ranges(mut each: impl FnMut(usize, usize)) {
    let top = high_water();
    // SAFETY: A3: the pool was made of exactly this range.
    for block in unsafe { header().pool.iter_blocks(pool_range()) } {
        let start = block.as_ptr().as_ptr().cast::<u8>() as usize;
        if start >= top {
            break;
        }
        if !block.is_occupied() {
            each(start + FREE_HEADER, start + block.size());
        }
    }
}

/// The page at `start`.
pub(crate) fn page(start: usize) -> &'static Page {
    debug_assert!(BASE <= start && start + PAGE <= BASE + SIZE && start.is_multiple_of(PAGE));
    // SAFETY: A1: mapped and readable; A2: nobody writes while the reference is in use, which
    // callers end before guest code runs again.
    unsafe { &*(start as *const Page) }
}

/// The page at `start`, to restore an image into.
pub(crate) fn page_mut(start: usize) -> &'static mut Page {
    debug_assert!(BASE <= start && start + PAGE <= BASE + SIZE && start.is_multiple_of(PAGE));
    // SAFETY: as `page`; no other reference exists while an image is restored.
    unsafe { &mut *(start as *mut Page) }
}
