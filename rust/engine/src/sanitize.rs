//! The arena as `AddressSanitizer` sees it, in builds with `--cfg codemode_sanitize` only.
//!
//! Each block has a forbidden zone behind it. A freed block is overwritten, forbidden, and
//! handed out again only after many others. Where the arena is copied as a whole (images, resets)
//! all of it is allowed for that long.
//!
//! `unsafe` blocks cite the invariants of [`crate::arena`], and S1: the last word of a block is its
//! size as asked for, written when it is handed out.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr;

use rquickjs_sys::{JSMallocFunctions, size_t};

use crate::arena::{self, BASE};
use crate::single::SingleThread;

unsafe extern "C" {
    fn __asan_poison_memory_region(from: *const c_void, size: usize);
    fn __asan_unpoison_memory_region(from: *const c_void, size: usize);
}

/// Behind each block: forbidden, but for the allocator.
const ZONE: usize = 32;
const WORD: usize = size_of::<usize>();
/// Most freed blocks that are not handed out yet, and most bytes of them.
const KEPT: usize = 4096;
const KEPT_BYTES: usize = 4 << 20;
const FRESH: u8 = 0xAA;
const FREED: u8 = 0xDD;

struct Lately {
    blocks: VecDeque<usize>,
    bytes: usize,
}

static LATELY: SingleThread<RefCell<Lately>> =
    SingleThread::new(RefCell::new(Lately { blocks: VecDeque::new(), bytes: 0 }));

/// The engine's allocator.
pub(crate) static FUNCTIONS: JSMallocFunctions = JSMallocFunctions {
    js_calloc: Some(calloc),
    js_malloc: Some(malloc),
    js_free: Some(free),
    js_realloc: Some(realloc),
    js_malloc_usable_size: Some(usable_size),
};

unsafe fn size_word(block: *const c_void) -> *mut usize {
    // SAFETY: A3; the block is longer than a word.
    unsafe { block.cast_mut().byte_add(arena::usable_size(block) as usize - WORD).cast() }
}

unsafe extern "C" fn malloc(opaque: *mut c_void, size: size_t) -> *mut c_void {
    // SAFETY: A3, S1.
    unsafe {
        let block = arena::malloc(opaque, size.saturating_add(ZONE as size_t));
        if block.is_null() {
            return block;
        }
        let (size, whole) = (size as usize, arena::usable_size(block) as usize);
        __asan_unpoison_memory_region(block, whole);
        size_word(block).write(size);
        block.cast::<u8>().write_bytes(FRESH, size);
        __asan_poison_memory_region(block.byte_add(size), whole - size);
        block
    }
}

unsafe extern "C" fn calloc(opaque: *mut c_void, count: size_t, size: size_t) -> *mut c_void {
    let Some(bytes) = count.checked_mul(size) else { return ptr::null_mut() };
    // SAFETY: the block has that many bytes.
    unsafe {
        let block = malloc(opaque, bytes);
        if !block.is_null() {
            block.cast::<u8>().write_bytes(0, bytes as usize);
        }
        block
    }
}

unsafe extern "C" fn free(opaque: *mut c_void, block: *mut c_void) {
    if block.is_null() {
        return;
    }
    let mut lately = LATELY.get().borrow_mut();
    // SAFETY: A3; the engine looks at a block before it frees it, which is forbidden from now on.
    unsafe {
        let whole = arena::usable_size(block) as usize;
        block.cast::<u8>().write_bytes(FREED, usable_size(block) as usize);
        __asan_poison_memory_region(block, whole);
        lately.blocks.push_back(block as usize);
        lately.bytes += whole;
        while lately.blocks.len() > KEPT || lately.bytes > KEPT_BYTES {
            let Some(old) = lately.blocks.pop_front() else { break };
            let old = old as *mut c_void;
            lately.bytes -= arena::usable_size(old) as usize;
            arena::free(opaque, old);
        }
    }
}

/// Always moves: a pointer that was kept is one to a freed block.
unsafe extern "C" fn realloc(opaque: *mut c_void, block: *mut c_void, size: size_t) -> *mut c_void {
    // SAFETY: A3; both blocks have that many bytes.
    unsafe {
        let new = if size == 0 && !block.is_null() {
            ptr::null_mut()
        } else {
            let new = malloc(opaque, size);
            if new.is_null() || block.is_null() {
                return new;
            }
            let kept = usable_size(block).min(size) as usize;
            new.cast::<u8>().copy_from_nonoverlapping(block.cast(), kept);
            new
        };
        free(opaque, block);
        new
    }
}

unsafe extern "C" fn usable_size(block: *const c_void) -> size_t {
    if block.is_null() {
        return 0;
    }
    // SAFETY: S1.
    unsafe { size_word(block).read() as size_t }
}

/// See [`arena::whole`].
pub(crate) fn whole<R>(f: impl FnOnce() -> R) -> R {
    let allow = || {
        // SAFETY: A1.
        unsafe { __asan_unpoison_memory_region(BASE as *const c_void, arena::top() - BASE) };
    };
    allow();
    let mut lately = LATELY.get().borrow_mut();
    lately.bytes = 0;
    for block in lately.blocks.drain(..) {
        // SAFETY: A3; each is in the list once.
        unsafe { arena::free(ptr::null_mut(), block as *mut c_void) };
    }
    let out = f();
    allow();
    arena::free_ranges(|from, to| {
        // SAFETY: A1.
        unsafe { __asan_poison_memory_region(from as *const c_void, to - from) };
    });
    out
}
