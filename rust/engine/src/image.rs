//! The form of an image, which is written and sent in parts.
//!
//! Little-endian throughout. Head: magic, format, build, template, size of the arena (u64 each).
//! Chunks: length without and with LZ4 (u32 each; the same if it was not worth it), then bytes:
//! whole packed pages, and in the last chunk after them the pages' numbers (u32 each) and the
//! cell's tables. Foot: number of pages, bytes of tables, checksum of the chunks (u64 each).

use std::borrow::Cow;

use codemode_wire::frame::{IMAGE_PART_HEAD, finish_image_part};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::arena::{PAGE, SIZE};
use crate::pack;

const MAGIC: u64 = u64::from_le_bytes(*b"codemode");
const FORMAT: u64 = 3;
const HEAD: usize = 5 * 8;
const FOOT: usize = 3 * 8;
const CHUNK_HEAD: usize = 2 * 4;
/// From so many bytes on a chunk is sent while the next is made. It stays in the processor's
/// cache meanwhile.
const CHUNK: usize = 128 << 10;
/// LZ4 takes longer than everything else together: a chunk of so many bytes is only compressed if
/// a sample of it at least halves.
const LONG: usize = 64 << 10;
const SAMPLE: usize = 4 << 10;
/// Longest output of LZ4 per byte of input.
const MAX_RATIO: usize = 255;

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

/// What must be the same where an image is taken and where it is restored.
#[derive(Clone, Copy)]
pub(crate) struct Identity {
    pub(crate) build: u64,
    pub(crate) template: u64,
}

/// Writes an image: gives away each part but the last as a frame as soon as it is made.
pub(crate) struct Writer<'a> {
    send: &'a mut dyn FnMut(&[u8]),
    /// Room for the head of a frame, then what was not given away.
    buffer: Vec<u8>,
    /// Where the chunk begins that is being written.
    chunk: usize,
    sum: Xxh3,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(of: Identity, send: &'a mut dyn FnMut(&[u8])) -> Self {
        let mut buffer = Vec::with_capacity(CHUNK + HEAD + FOOT + 4 * PAGE);
        buffer.resize(IMAGE_PART_HEAD, 0);
        for word in [MAGIC, FORMAT, of.build, of.template, SIZE as u64] {
            buffer.extend_from_slice(&word.to_le_bytes());
        }
        let mut image = Self { send, buffer, chunk: 0, sum: Xxh3::new() };
        image.begin_chunk();
        image
    }

    fn begin_chunk(&mut self) {
        self.buffer.extend_from_slice(&[0; CHUNK_HEAD]);
        self.chunk = self.buffer.len();
    }

    fn end_chunk(&mut self) {
        let raw = self.buffer.len() - self.chunk;
        if let Some(squeezed) = squeeze(&self.buffer[self.chunk..]) {
            self.buffer.truncate(self.chunk);
            self.buffer.extend_from_slice(&squeezed);
        }
        let kept = self.buffer.len() - self.chunk;
        let start = self.chunk - CHUNK_HEAD;
        for (at, len) in self.buffer[start..].chunks_exact_mut(4).zip([raw, kept]) {
            at.copy_from_slice(&(len as u32).to_le_bytes());
        }
        self.sum.update(&self.buffer[start..]);
    }

    /// Appends what `pack` writes: one packed page.
    pub(crate) fn page(&mut self, pack: impl FnOnce(&mut Vec<u8>)) {
        if self.buffer.len() - self.chunk >= CHUNK {
            self.end_chunk();
            finish_image_part(&mut self.buffer);
            (self.send)(&self.buffer);
            self.buffer.truncate(IMAGE_PART_HEAD);
            self.begin_chunk();
        }
        pack(&mut self.buffer);
    }

    /// Ends the image and gives its last part.
    pub(crate) fn end(mut self, numbers: &[u8], tables: &[u8]) -> Vec<u8> {
        self.buffer.extend_from_slice(numbers);
        self.buffer.extend_from_slice(tables);
        self.end_chunk();
        let count = (numbers.len() / 4) as u64;
        for word in [count, tables.len() as u64, self.sum.digest()] {
            self.buffer.extend_from_slice(&word.to_le_bytes());
        }
        self.buffer.drain(..IMAGE_PART_HEAD);
        self.buffer
    }
}

/// The LZ4 block of `chunk`, which is always shorter; none if it is not worth it.
fn squeeze(chunk: &[u8]) -> Option<Vec<u8>> {
    if chunk.len() > LONG {
        let sample = &chunk[chunk.len() / 2..][..SAMPLE];
        if lz4_flex::block::compress(sample).len() > SAMPLE / 2 {
            return None;
        }
    }
    Some(lz4_flex::block::compress(chunk)).filter(|squeezed| squeezed.len() < chunk.len())
}

/// The chunks of an image whose every count was checked.
pub(crate) struct Body<'a> {
    chunks: Vec<Cow<'a, [u8]>>,
    /// Where in the last chunk the numbers begin, and the tables.
    numbers_at: usize,
    tables_at: usize,
}

impl Body<'_> {
    fn last(&self) -> &[u8] {
        self.chunks.last().map_or(&[], |chunk| chunk)
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = usize> {
        self.last()[self.numbers_at..self.tables_at]
            .chunks_exact(4)
            .map(|n| u32::from_le_bytes(n.try_into().expect("four bytes")) as usize)
    }

    pub(crate) fn tables(&self) -> &[u8] {
        &self.last()[self.tables_at..]
    }

    /// The packed pages, some in each slice.
    pub(crate) fn pages(&self) -> impl Iterator<Item = &[u8]> {
        let last = self.chunks.len() - 1;
        let of = move |(n, chunk): (usize, _)| match n {
            n if n == last => &self.last()[..self.numbers_at],
            _ => chunk,
        };
        self.chunks.iter().map(|chunk| &**chunk).enumerate().map(of)
    }

    /// Whether each page is whole and has its number.
    fn is_whole(&self) -> bool {
        let mut numbers = self.numbers();
        self.pages().all(|mut rest| {
            while !rest.is_empty() {
                let number = numbers.next().filter(|number| *number < SIZE / PAGE);
                match (number, pack::skip(rest)) {
                    (Some(_), Some(next)) => rest = next,
                    _ => return false,
                }
            }
            true
        }) && numbers.next().is_none()
    }
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

/// Reads an image. Whoever can write one can also make its checksum: nothing in it is believed.
pub(crate) fn open(image: &[u8], of: Identity) -> Result<Body<'_>, RestoreError> {
    let (head, rest) = image.split_at_checked(HEAD).ok_or(RestoreError::NotAnImage)?;
    let mut words = head.chunks_exact(8).map(word);
    let mut is_next = |expected| words.next() == Some(expected);
    if !is_next(MAGIC) {
        return Err(RestoreError::NotAnImage);
    }
    if !is_next(FORMAT) {
        return Err(RestoreError::OtherFormat);
    }
    if !is_next(of.build) {
        return Err(RestoreError::OtherBuild);
    }
    if !is_next(of.template) || !is_next(SIZE as u64) {
        return Err(RestoreError::OtherTemplate);
    }
    body(rest).ok_or(RestoreError::Damaged)
}

fn body(rest: &[u8]) -> Option<Body<'_>> {
    let (mut rest, foot) = rest.split_at_checked(rest.len().checked_sub(FOOT)?)?;
    let [count, tables_len, sum] = [0, 8, 16].map(|at| word(&foot[at..at + 8]));
    if xxh3_64(rest) != sum {
        return None;
    }
    let mut chunks = Vec::new();
    let mut room = SIZE;
    while !rest.is_empty() {
        let (lens, bytes) = rest.split_at_checked(CHUNK_HEAD)?;
        let lens = word(lens);
        let (raw, kept) = (lens as u32 as usize, (lens >> 32) as usize);
        let (kept, next) = bytes.split_at_checked(kept)?;
        rest = next;
        // What cannot come out of so few bytes is not made room for.
        room = room.checked_sub(raw).filter(|_| raw <= kept.len().saturating_mul(MAX_RATIO))?;
        chunks.push(if raw == kept.len() {
            Cow::Borrowed(kept)
        } else {
            let chunk = lz4_flex::block::decompress(kept, raw).ok()?;
            (chunk.len() == raw).then_some(Cow::Owned(chunk))?
        });
    }
    let tables_at = chunks.last()?.len().checked_sub(tables_len as usize)?;
    let numbers_at = tables_at.checked_sub((count as usize).checked_mul(4)?)?;
    let body = Body { chunks, numbers_at, tables_at };
    body.is_whole().then_some(body)
}
