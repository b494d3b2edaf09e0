//! The value codec: JSON values plus exact integers, as tagged bytes.
//!
//! | tag | value | body |
//! |---|---|---|
//! | 0 | null | |
//! | 1, 2 | false, true | |
//! | 3 | integer, at most 2^53-1 in magnitude | zigzag varint |
//! | 4 | integer beyond that | varint length, decimal digits, optional `-` |
//! | 5 | other number (finite) | 8 bytes, little endian |
//! | 6 | string | varint length, UTF-8 |
//! | 7 | array | u32 count, values |
//! | 8 | object | u32 count, then per member: varint length, UTF-8 key, value |
//!
//! JSON text is not used on the wire because it cannot tell an integer of any size from a
//! double, and because strings would be escaped, scanned and unescaped on the way.

use crate::{MAX_DEPTH, WireError};

/// Largest integer that a JavaScript number holds exactly.
pub const MAX_SAFE_INTEGER: i64 = (1 << 53) - 1;

/// First byte of an encoded value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Tag {
    Null = 0,
    False = 1,
    True = 2,
    Int = 3,
    BigInt = 4,
    Float = 5,
    String = 6,
    Array = 7,
    Object = 8,
}

/// Writes one value and counts what it would take as compact JSON in UTF-8.
#[derive(Debug, Default)]
pub struct Encoder {
    buf: Vec<u8>,
    json: u64,
    not_finite: bool,
    counts_only: bool,
    values: usize,
}

/// Where an open array or object began; closing it patches its count.
#[derive(Debug)]
#[must_use]
pub struct Open {
    at: usize,
    count: u32,
}

impl Encoder {
    /// An empty encoder.
    pub fn new() -> Self {
        Self::default()
    }

    /// One that keeps nothing of what is written but its length as JSON.
    pub fn counter() -> Self {
        Self { counts_only: true, ..Self::default() }
    }

    /// Bytes that the values so far take as compact JSON.
    pub fn json_len(&self) -> u64 {
        self.json
    }

    /// How many values were written, those inside of others counted.
    pub fn values(&self) -> usize {
        self.values
    }

    /// Encoded bytes so far.
    pub fn len(&self) -> usize {
        self.buf.len()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.buf.is_empty()
    }

    /// The encoded bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.buf
    }

    /// Whether a number was not finite, and null was written for it.
    pub fn held_not_finite(&self) -> bool {
        self.not_finite
    }

    /// Writes null.
    pub fn null(&mut self) {
        self.tag(Tag::Null);
        self.json += 4;
    }

    /// Writes a boolean.
    pub fn bool(&mut self, v: bool) {
        self.tag(if v { Tag::True } else { Tag::False });
        self.json += if v { 4 } else { 5 };
    }

    /// Writes an integer that a JavaScript number holds exactly.
    pub fn int(&mut self, v: i64) {
        debug_assert!(v.unsigned_abs() <= MAX_SAFE_INTEGER.unsigned_abs());
        self.tag(Tag::Int);
        self.put_varint(((v << 1) ^ (v >> 63)) as u64);
        self.json += decimal_len(v);
    }

    /// Writes an integer of any size from its decimal digits.
    pub fn bigint(&mut self, digits: &str) {
        self.tag(Tag::BigInt);
        self.put_varint(digits.len() as u64);
        self.put(digits.as_bytes());
        self.json += digits.len() as u64;
    }

    /// Writes a number: as an integer where it is one, null where it is not finite.
    pub fn number(&mut self, v: f64) {
        #[allow(clippy::cast_precision_loss)]
        if v.fract() == 0.0 && v.abs() <= MAX_SAFE_INTEGER as f64 {
            self.int(v as i64);
        } else if v.is_finite() {
            self.tag(Tag::Float);
            self.put(&v.to_le_bytes());
            self.json += ryu_js::Buffer::new().format_finite(v).len() as u64;
        } else {
            self.not_finite = true;
            self.null();
        }
    }

    /// Counts `bytes` of JSON for a value that is too large to be written; null stands for it.
    pub fn overrun(&mut self, bytes: u64) {
        self.tag(Tag::Null);
        self.json += bytes;
    }

    /// Writes a string.
    pub fn string(&mut self, v: &str) {
        self.tag(Tag::String);
        self.put_varint(v.len() as u64);
        self.put(v.as_bytes());
        self.json += json_string_len(v);
    }

    /// Opens an array; each element is announced by [`Encoder::element`].
    pub fn begin_array(&mut self) -> Open {
        self.begin(Tag::Array)
    }

    /// Opens an object; each member is announced by [`Encoder::key`].
    pub fn begin_object(&mut self) -> Open {
        self.begin(Tag::Object)
    }

    /// Announces the next element of `open`; its value must follow.
    pub fn element(&mut self, open: &mut Open) {
        self.json += u64::from(open.count > 0);
        open.count += 1;
    }

    /// Announces the next member of `open`; its value must follow.
    pub fn key(&mut self, open: &mut Open, key: &str) {
        self.element(open);
        self.put_varint(key.len() as u64);
        self.put(key.as_bytes());
        self.json += json_string_len(key) + 1;
    }

    /// Closes an array or object.
    pub fn end(&mut self, open: Open) {
        if self.counts_only {
            return;
        }
        self.buf[open.at..open.at + 4].copy_from_slice(&open.count.to_le_bytes());
    }

    /// Copies one already encoded value whose JSON length is known.
    pub fn raw(&mut self, value: &[u8], json_len: u64) {
        self.put(value);
        self.json += json_len;
    }

    fn tag(&mut self, tag: Tag) {
        self.put_byte(tag as u8);
        self.values += 1;
    }

    fn begin(&mut self, tag: Tag) -> Open {
        self.tag(tag);
        let at = self.buf.len();
        self.put(&[0; 4]);
        self.json += 2;
        Open { at, count: 0 }
    }

    fn put(&mut self, bytes: &[u8]) {
        if !self.counts_only {
            self.buf.extend_from_slice(bytes);
        }
    }

    fn put_byte(&mut self, byte: u8) {
        self.put(&[byte]);
    }

    fn put_varint(&mut self, v: u64) {
        if !self.counts_only {
            put_varint(&mut self.buf, v);
        }
    }
}

/// Bytes of `v` as a JSON string with its quotes, as `JSON.stringify` writes it.
pub fn json_string_len(v: &str) -> u64 {
    // In blocks, without jumps: several bytes at once.
    let (blocks, rest) = v.as_bytes().as_chunks::<32>();
    let of = |bytes: &[u8]| u64::from(bytes.iter().fold(0, |sum: u8, b| sum + escape_len(*b)));
    let extra: u64 = blocks.iter().map(|block| of(block)).sum::<u64>() + of(rest);
    v.len() as u64 + 2 + extra
}

/// Bytes that a byte takes besides itself. At most 5, so that 32 of them fit into one.
fn escape_len(b: u8) -> u8 {
    let control = u8::from(b < 0x20);
    let short = u8::from(matches!(b, 0x08 | b'\t' | b'\n' | 0x0c | b'\r'));
    5 * control - 4 * short + u8::from(b == b'"' || b == b'\\')
}

fn decimal_len(v: i64) -> u64 {
    u64::from(v < 0) + u64::from(v.unsigned_abs().checked_ilog10().unwrap_or(0)) + 1
}

pub(crate) fn put_varint(buf: &mut Vec<u8>, mut v: u64) {
    while v >= 0x80 {
        buf.push(v as u8 | 0x80);
        v >>= 7;
    }
    buf.push(v as u8);
}

/// One step of a decoded value.
#[derive(Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Event<'a> {
    Null,
    Bool(bool),
    Int(i64),
    /// Decimal digits, checked.
    BigInt(&'a str),
    Float(f64),
    String(&'a str),
    /// That many values follow.
    Array(usize),
    /// That many times [`Decoder::key`] and a value follow.
    Object(usize),
}

/// Reads hostile bytes; every length is checked before it is used.
#[derive(Debug, Clone)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    values: usize,
    most: usize,
}

impl<'a> Decoder<'a> {
    /// Reads from the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, values: 0, most: usize::MAX }
    }

    /// Offset of the next byte.
    pub fn position(&self) -> usize {
        self.at
    }

    /// How many values were read, those inside of others counted.
    pub fn values(&self) -> usize {
        self.values
    }

    /// Refuses more values than that.
    pub(crate) fn with_most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Another decoder, whose values count as this one's.
    pub(crate) fn read_inner<T>(
        &mut self,
        bytes: &'a [u8],
        read: impl FnOnce(&mut Self) -> Result<T, WireError>,
    ) -> Result<T, WireError> {
        let mut inner = Self { bytes, at: 0, ..*self };
        let read = read(&mut inner)?;
        self.values = inner.values;
        if inner.is_done() { Ok(read) } else { Err(WireError::Malformed("bytes after a value")) }
    }

    /// Whether every byte was read.
    pub fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Reads the next value or the head of the next array or object.
    pub fn next_event(&mut self) -> Result<Event<'a>, WireError> {
        self.values += 1;
        if self.values > self.most {
            return Err(WireError::Malformed("too many values in a frame"));
        }
        Ok(match self.byte()? {
            0 => Event::Null,
            1 => Event::Bool(false),
            2 => Event::Bool(true),
            3 => {
                let z = self.varint()?;
                let v = (z >> 1) as i64 ^ -((z & 1) as i64);
                if v.unsigned_abs() > MAX_SAFE_INTEGER as u64 {
                    return Err(WireError::Malformed("integer out of range"));
                }
                Event::Int(v)
            }
            4 => {
                let digits = self.text()?;
                let body = digits.strip_prefix('-').unwrap_or(digits);
                if body.is_empty() || !body.bytes().all(|b| b.is_ascii_digit()) {
                    return Err(WireError::Malformed("integer with other characters than digits"));
                }
                Event::BigInt(digits)
            }
            5 => {
                let v = f64::from_le_bytes(self.take(8)?.try_into().expect("eight bytes"));
                if !v.is_finite() {
                    return Err(WireError::Malformed("number that is not finite"));
                }
                Event::Float(v)
            }
            6 => Event::String(self.text()?),
            7 => Event::Array(self.count(1)?),
            8 => Event::Object(self.count(2)?),
            _ => return Err(WireError::Malformed("unknown value tag")),
        })
    }

    /// Reads the key of the next member of an object.
    pub fn key(&mut self) -> Result<&'a str, WireError> {
        self.text()
    }

    /// Reads one whole value, checking depth, and gives its bytes.
    pub fn skip_value(&mut self) -> Result<&'a [u8], WireError> {
        let start = self.at;
        self.skip(0)?;
        Ok(&self.bytes[start..self.at])
    }

    fn skip(&mut self, depth: usize) -> Result<(), WireError> {
        if depth > MAX_DEPTH + 2 {
            return Err(WireError::TooDeep);
        }
        match self.next_event()? {
            Event::Array(n) => {
                for _ in 0..n {
                    self.skip(depth + 1)?;
                }
            }
            Event::Object(n) => {
                for _ in 0..n {
                    self.key()?;
                    self.skip(depth + 1)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn byte(&mut self) -> Result<u8, WireError> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8], WireError> {
        let end = self.at.checked_add(n).filter(|e| *e <= self.bytes.len());
        let end = end.ok_or(WireError::Truncated)?;
        let out = &self.bytes[self.at..end];
        self.at = end;
        Ok(out)
    }

    pub(crate) fn varint(&mut self) -> Result<u64, WireError> {
        let mut v = 0u64;
        for shift in (0..64).step_by(7) {
            let b = self.byte()?;
            v |= u64::from(b & 0x7f) << shift;
            if b < 0x80 {
                return Ok(v);
            }
        }
        Err(WireError::Malformed("varint too long"))
    }

    pub(crate) fn blob(&mut self) -> Result<&'a [u8], WireError> {
        let n = usize::try_from(self.varint()?).map_err(|_| WireError::Truncated)?;
        self.take(n)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, WireError> {
        std::str::from_utf8(self.blob()?).map_err(|_| WireError::Malformed("string is not UTF-8"))
    }

    /// A count of things that take at least `least` bytes each.
    pub(crate) fn count(&mut self, least: usize) -> Result<usize, WireError> {
        let n = u32::from_le_bytes(self.take(4)?.try_into().expect("four bytes")) as usize;
        if n.saturating_mul(least) > self.bytes.len() - self.at {
            return Err(WireError::Truncated);
        }
        Ok(n)
    }
}
