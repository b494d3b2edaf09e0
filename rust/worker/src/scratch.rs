//! The Rust heap of the worker: one mapping of fixed size, so that a sealed worker needs no
//! system call for memory and cannot take more than this.
//!
//! Invariants: S1 the process has one thread; S2 the region is mapped before the first block is
//! handed out and never unmapped; S3 every block came from the pool.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr::{self, NonNull, slice_from_raw_parts_mut};

use rlsf::Tlsf;

use crate::confine::SOCKET;
use crate::sys;

const BASE: usize = 0x200_0000_0000;
/// Holds a frame of the largest size, its decoded form, and the parser's trees.
pub(crate) const SIZE: usize = 1 << 30;

const LARGE: usize = 2 << 20;

type Pool = Tlsf<'static, u32, u8, 26, 8>;

struct State(UnsafeCell<Option<Pool>>);

// SAFETY: S1.
unsafe impl Sync for State {}

static STATE: State = State(UnsafeCell::new(None));

struct LastWords(UnsafeCell<Vec<u8>>);

// SAFETY: S1.
unsafe impl Sync for LastWords {}

static LAST_WORDS: LastWords = LastWords(UnsafeCell::new(Vec::new()));

/// What the host is told when there is no memory left: one frame, made before.
pub(crate) fn on_exhaustion(frame: Vec<u8>) {
    // SAFETY: S1; the reference ends here.
    unsafe { *LAST_WORDS.0.get() = frame };
}

/// Ends a child that has its last words; any other gets no block.
fn exhausted() -> *mut u8 {
    // SAFETY: S1. No frame is half written: none needs memory while it is written.
    let frame = unsafe { &*LAST_WORDS.0.get() };
    if !frame.is_empty() {
        let _ = sys::write_all(SOCKET, frame);
        sys::exit(0);
    }
    ptr::null_mut()
}

/// The global allocator.
pub(crate) struct Scratch;

impl Scratch {
    fn pool() -> Option<&'static mut Pool> {
        // SAFETY: S1; the reference ends before the next call.
        let state = unsafe { &mut *STATE.0.get() };
        if state.is_none() {
            // SAFETY: a fresh anonymous mapping at a free address; S2.
            unsafe {
                let got = libc::mmap(
                    BASE as *mut libc::c_void,
                    SIZE,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE
                        | libc::MAP_ANONYMOUS
                        | libc::MAP_NORESERVE
                        | libc::MAP_FIXED_NOREPLACE,
                    -1,
                    0,
                );
                if got as usize != BASE {
                    return None;
                }
                // Frames of some size are rare; their pages are cheaper by the large piece. Not the
                // end, where the allocator puts a mark.
                libc::madvise(
                    (BASE + LARGE) as *mut libc::c_void,
                    SIZE - 2 * LARGE,
                    libc::MADV_HUGEPAGE,
                );
                let mut pool = Pool::new();
                let range = slice_from_raw_parts_mut(BASE as *mut u8, SIZE);
                pool.insert_free_block_ptr(NonNull::new(range)?);
                *state = Some(pool);
            }
        }
        state.as_mut()
    }
}

// SAFETY: blocks come from the pool (S3) and are as large and aligned as asked for.
unsafe impl GlobalAlloc for Scratch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::pool().and_then(|pool| pool.allocate(layout)).map_or_else(exhausted, NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let (Some(pool), Some(block)) = (Self::pool(), NonNull::new(block)) {
            // SAFETY: S3.
            unsafe { pool.deallocate(block, layout.align()) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Ok(layout) = Layout::from_size_align(size, layout.align()) else {
            return ptr::null_mut();
        };
        match (Self::pool(), NonNull::new(block)) {
            // SAFETY: S3.
            (Some(pool), Some(block)) => {
                unsafe { pool.reallocate(block, layout) }.map_or_else(exhausted, NonNull::as_ptr)
            }
            _ => ptr::null_mut(),
        }
    }
}
