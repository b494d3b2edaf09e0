//! Positions in the text that runs -> positions in the text that was sent.
//!
//! Both are 1-based lines and columns. The engine counts columns of the text that runs in UTF-8
//! bytes; columns of the text that was sent are counted in code points. Lines end at LF, CR LF or CR.

use crate::offsets::Offsets;

/// Where the body of a cell came from. Without edits and non-ASCII text it holds nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PositionMap {
    points: Vec<Point>,
}

/// One place that the point before it does not predict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    line: u32,
    column: u32,
    original_line: u32,
    original_column: u32,
}

impl Point {
    /// Columns run on in the same line; a later line starts where the original line does.
    fn predict(self, line: u32, column: u32) -> (u32, u32) {
        if line == self.line {
            let ahead = column.saturating_sub(self.column);
            (self.original_line, self.original_column.saturating_add(ahead))
        } else {
            (self.original_line.saturating_add(line.saturating_sub(self.line)), column)
        }
    }
}

impl PositionMap {
    pub(crate) fn new(body: &str, offsets: &Offsets, sent: &str) -> Self {
        if offsets.is_identity() && body.is_ascii() {
            return Self::default();
        }
        let body_lines = Lines::new(body);
        let sent_lines = Lines::new(sent);
        let mut stops: Vec<u32> = body_lines.starts.clone();
        stops.extend(offsets.anchors().iter().map(|a| a.dst));
        let bytes = body.as_bytes();
        stops.extend(
            (1..bytes.len())
                .filter(|&i| bytes[i].is_ascii() && !bytes[i - 1].is_ascii() && bytes[i] != b'\n')
                .map(|i| i as u32),
        );
        stops.sort_unstable();
        stops.dedup();

        let mut points: Vec<Point> = Vec::new();
        let mut last = Point { line: 1, column: 1, original_line: 1, original_column: 1 };
        for stop in stops {
            let (line, column) = body_lines.byte_position(stop);
            let original = sent_lines.position(sent, offsets.to_source(stop));
            if last.predict(line, column) != original {
                last =
                    Point { line, column, original_line: original.0, original_column: original.1 };
                points.push(last);
            }
        }
        Self { points }
    }

    /// The position in the text that was sent; `None` for a position that no text has.
    pub fn original(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        if line == 0 || column == 0 {
            return None;
        }
        let after = self.points.partition_point(|p| (p.line, p.column) <= (line, column));
        Some(match after.checked_sub(1).and_then(|i| self.points.get(i)) {
            Some(point) => point.predict(line, column),
            None => (line, column),
        })
    }

    /// A compact form, empty if the map holds nothing: per point the steps from the point before,
    /// as LEB128 (the original line zigzag).
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.points.len() * 4);
        let (mut line, mut original_line) = (0, 0);
        for p in &self.points {
            put(&mut out, p.line - line);
            put(&mut out, p.column);
            let step = p.original_line.wrapping_sub(original_line).cast_signed();
            put(&mut out, ((step << 1) ^ (step >> 31)).cast_unsigned());
            put(&mut out, p.original_column);
            (line, original_line) = (p.line, p.original_line);
        }
        out
    }

    /// Reads [`to_bytes`](Self::to_bytes) back. `None` for bytes that it never writes.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut points = Vec::with_capacity(bytes.len() / 4);
        let mut last = Point { line: 0, column: 0, original_line: 0, original_column: 0 };
        while !bytes.is_empty() {
            let line = last.line.checked_add(take(&mut bytes)?)?;
            let column = take(&mut bytes)?;
            let step = take(&mut bytes)?;
            let step = (step >> 1).cast_signed() ^ -(step & 1).cast_signed();
            let original_line = last.original_line.checked_add_signed(step)?;
            let original_column = take(&mut bytes)?;
            let point = Point { line, column, original_line, original_column };
            let forward = (last.line, last.column) < (line, column);
            if !forward || column == 0 || original_line == 0 || original_column == 0 {
                return None;
            }
            points.push(point);
            last = point;
        }
        Some(Self { points })
    }
}

fn put(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u64;
    for shift in [0, 7, 14, 21, 28] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(value).ok();
        }
    }
    None
}

/// Line starts of a text, and what is needed to count code points quickly.
pub(crate) struct Lines {
    starts: Vec<u32>,
    /// Code points before every `BLOCK`th byte; empty for ASCII.
    counts: Vec<u32>,
}

const BLOCK: usize = 64;

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (i, &byte) in bytes.iter().enumerate() {
            if byte == b'\n' || (byte == b'\r' && bytes.get(i + 1) != Some(&b'\n')) {
                starts.push(i as u32 + 1);
            }
        }
        let mut counts = Vec::new();
        if !text.is_ascii() {
            let mut count = 0;
            for block in bytes.chunks(BLOCK) {
                counts.push(count);
                count += code_points(block);
            }
        }
        Self { starts, counts }
    }

    /// Line and column, in bytes.
    pub(crate) fn byte_position(&self, offset: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|&s| s <= offset);
        (line as u32, offset - self.starts[line - 1] + 1)
    }

    /// Line and column, in code points, of a byte offset.
    pub(crate) fn position(&self, text: &str, offset: u32) -> (u32, u32) {
        let offset = offset.min(text.len() as u32);
        let (line, column) = self.byte_position(offset);
        if self.counts.is_empty() {
            return (line, column);
        }
        let start = self.starts[line as usize - 1];
        (line, self.before(text, offset) - self.before(text, start) + 1)
    }

    fn before(&self, text: &str, offset: u32) -> u32 {
        let offset = offset as usize;
        let Some(&count) = self.counts.get(offset / BLOCK) else {
            return code_points(text.as_bytes());
        };
        count + code_points(&text.as_bytes()[offset / BLOCK * BLOCK..offset])
    }

    /// The text of a line, without its end.
    pub(crate) fn line<'t>(&self, text: &'t str, line: u32) -> &'t str {
        let start = self.starts[line as usize - 1] as usize;
        let end = self.starts.get(line as usize).map_or(text.len(), |&s| s as usize);
        text[start..end].trim_end_matches(['\n', '\r'])
    }
}

fn code_points(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&b| b & 0xc0 != 0x80).count() as u32
}
