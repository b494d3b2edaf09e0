//! Frames: `u32` length (little endian, of what follows), `u8` type, body.
//!
//! Host to worker: [`ToWorker`]. Worker to host: [`FromWorker`]; after each `Start`, `Resume`
//! or `Settle` the worker answers with exactly one turn end (`Suspended`, `Finished`,
//! `Failed`), before it possibly some `Fetch` which the host answers with `Data`.
//! `Suspend` is answered with `Image` or `Failed`, before it possibly some `ImagePart`.

use std::borrow::Cow;

use crate::value::put_varint;
use crate::{Decoder, MAX_ITEMS, MAX_OUTSTANDING, MAX_TARGET, MAX_VALUES, VALUE_COST, WireError};

/// Limits and clock of one leg of a cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leg {
    /// End of the guest's time, `CLOCK_MONOTONIC`, nanoseconds.
    pub deadline_ns: u64,
    /// Kernel timer: the worker is killed at this time, `CLOCK_MONOTONIC`, nanoseconds.
    pub kill_ns: u64,
    /// Bytes that the VM may allocate.
    pub memory_limit: u64,
    /// Output and final value of the whole cell, bytes of compact JSON.
    pub max_output: u64,
    /// What of it earlier legs have used.
    pub output_used: u64,
    /// Uncompressed image, bytes.
    pub max_snapshot: u64,
    /// Cut output at the budget instead of failing.
    pub truncate_output: bool,
}

/// Begins a cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    /// Limits and clock.
    pub leg: Leg,
    /// What the model sent.
    pub code: String,
    /// The model asked for TypeScript.
    pub typescript: bool,
    /// The configuration allows JavaScript.
    pub allow_javascript: bool,
    /// The configuration allows TypeScript.
    pub allow_typescript: bool,
    /// One encoded object that says which optional globals exist: `{"mcp": bool, "nodes": bool,
    /// "swarm": bool, "namespaces": {...}}`.
    pub globals: Vec<u8>,
}

/// Continues a cell from an image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resume<'a> {
    /// Limits and clock.
    pub leg: Leg,
    /// What `Image` carried.
    pub image: Cow<'a, [u8]>,
    /// Whether promises of `yield_control` resolve now.
    pub release_yields: bool,
    /// Calls that ended meanwhile, in the order in which they ended.
    pub settlements: Vec<Settlement<'a>>,
}

/// How one nested call ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settlement<'a> {
    /// From [`Request::id`].
    pub id: u32,
    /// Whether `value` is the result or the error.
    pub ok: bool,
    /// One encoded value. Of an error: an object with `message`, perhaps `name` and more fields.
    pub value: Cow<'a, [u8]>,
}

/// A nested call that the guest made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request<'a> {
    /// Unique within the cell, ascending.
    pub id: u32,
    /// `call`, `callValue`, `search`, `describe`, `mcp`, … checked by the host.
    pub op: String,
    /// Tool id or name, query, … as the guest gave it.
    pub target: String,
    /// One encoded value: the input.
    pub input: Cow<'a, [u8]>,
}

/// A turn that ended with something outstanding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suspended<'a> {
    /// New nested calls, in call order.
    pub requests: Vec<Request<'a>>,
    /// New output items, encoded objects.
    pub output: Vec<Cow<'a, [u8]>>,
    /// Output budget used by the whole cell so far.
    pub output_used: u64,
    /// Milliseconds until the next timer is due.
    pub timer_ms: Option<u64>,
    /// The guest called `yield_control` in this turn, with this reason.
    pub yielded: Option<String>,
    /// The program itself has ended; only nested calls are outstanding.
    pub main_settled: bool,
}

/// The cell is complete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finished<'a> {
    /// Encoded final value.
    pub value: Cow<'a, [u8]>,
    /// New output items, encoded objects.
    pub output: Vec<Cow<'a, [u8]>>,
    /// What the model should know.
    pub warnings: Vec<String>,
    /// Output budget used by the whole cell.
    pub output_used: u64,
    /// The process goes back to the template and can serve another cell of the same run.
    pub reusable: bool,
}

/// The cell failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failed<'a> {
    /// One of the codes of CONTRACT exe.4.
    pub code: String,
    /// Which limit fired, or empty.
    pub limit: String,
    /// What happened and what to do.
    pub message: String,
    /// One-based line and column in the text that the model sent.
    pub location: Option<(u32, u32)>,
    /// New output items, encoded objects.
    pub output: Vec<Cow<'a, [u8]>>,
    /// What the model should know besides.
    pub warnings: Vec<String>,
}

/// What a worker may ask for in the middle of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum FetchKind {
    /// All entries visible to the guest: an encoded array of objects (`ALL_TOOLS`).
    Catalog = 1,
    /// Convenience names: an encoded array of `[safe name, id]`, or `[safe name, null, [ids]]`
    /// where several tools would have that name.
    Names = 2,
    /// Declaration files: an encoded array of `{path, description, bytes}`.
    ApiList = 3,
    /// One declaration file, `argument` is its path: an encoded object or null.
    ApiRead = 4,
    /// MCP names: an encoded array of `{key, name, tools: [[key, original, id]], resources, prompts}`
    /// per server, by key; the last two are null or objects of method name to catalog id.
    McpNames = 5,
}

/// A question in the middle of a turn; the worker blocks for the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// What is asked for.
    pub kind: FetchKind,
    /// Detail, perhaps empty.
    pub argument: String,
}

/// Frames that the host sends.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ToWorker<'a> {
    Start(Start),
    Resume(Resume<'a>),
    /// Results of calls; with none, only due timers run.
    Settle(Vec<Settlement<'a>>),
    Suspend,
    /// Answer to a `Fetch`: one encoded value.
    Data(Cow<'a, [u8]>),
}

/// Frames that a worker sends.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FromWorker<'a> {
    Suspended(Suspended<'a>),
    Finished(Finished<'a>),
    Failed(Failed<'a>),
    /// Some of the image of the VM; it goes on in the next frame.
    ImagePart(Cow<'a, [u8]>),
    /// The end of the image, often all of it, and its uncompressed size in bytes.
    Image {
        bytes: Cow<'a, [u8]>,
        uncompressed: u64,
    },
    Fetch(Fetch),
}

struct Writer(Vec<u8>);

impl Writer {
    fn frame(kind: u8) -> Self {
        Self(vec![0, 0, 0, 0, kind])
    }
    fn num(&mut self, v: u64) {
        put_varint(&mut self.0, v);
    }
    fn blob(&mut self, v: &[u8]) {
        self.num(v.len() as u64);
        self.0.extend_from_slice(v);
    }
    fn flag(&mut self, v: bool) {
        self.0.push(u8::from(v));
    }
    fn option(&mut self, v: bool) -> bool {
        self.flag(v);
        v
    }
    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.0.extend_from_slice(&(items.len() as u32).to_le_bytes());
        for item in items {
            each(self, item);
        }
    }
    fn blobs<T: AsRef<[u8]>>(&mut self, items: &[T]) {
        self.list(items, |w, i| w.blob(i.as_ref()));
    }
    fn leg(&mut self, l: &Leg) {
        for v in
            [l.deadline_ns, l.kill_ns, l.memory_limit, l.max_output, l.output_used, l.max_snapshot]
        {
            self.num(v);
        }
        self.flag(l.truncate_output);
    }
    fn settlements(&mut self, items: &[Settlement<'_>]) {
        self.list(items, |w, s| {
            w.num(u64::from(s.id));
            w.flag(s.ok);
            w.blob(&s.value);
        });
    }
    fn finish(self) -> Vec<u8> {
        self.finish_before(0)
    }
    /// For a frame whose last `more` bytes are written separately.
    fn finish_before(mut self, more: usize) -> Vec<u8> {
        let len = (self.0.len() - 4 + more) as u32;
        self.0[..4].copy_from_slice(&len.to_le_bytes());
        self.0
    }
}

impl<'a> Decoder<'a> {
    fn flag(&mut self) -> Result<bool, WireError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(WireError::Malformed("flag that is neither 0 nor 1")),
        }
    }
    fn owned(&mut self) -> Result<String, WireError> {
        self.text().map(str::to_owned)
    }
    fn target(&mut self) -> Result<String, WireError> {
        let text = self.text()?;
        if text.len() > MAX_TARGET {
            return Err(WireError::Malformed("too long a target"));
        }
        Ok(text.to_owned())
    }
    fn id(&mut self) -> Result<u32, WireError> {
        u32::try_from(self.varint()?).map_err(|_| WireError::Malformed("number out of range"))
    }
    fn value(&mut self) -> Result<Cow<'a, [u8]>, WireError> {
        let blob = self.blob()?;
        self.read_inner(blob, |inner| inner.skip_value().map(drop))?;
        Ok(Cow::Borrowed(blob))
    }
    /// At most `most` items of at least `least` bytes each: an item takes more memory than bytes.
    fn list<T>(
        &mut self,
        least: usize,
        most: usize,
        mut each: impl FnMut(&mut Self) -> Result<T, WireError>,
    ) -> Result<Vec<T>, WireError> {
        let n = self.count(least)?;
        if n > most {
            return Err(WireError::Malformed("too many items in a list"));
        }
        let mut out = Vec::with_capacity(n.min(4096));
        for _ in 0..n {
            out.push(each(self)?);
        }
        Ok(out)
    }
    fn leg(&mut self) -> Result<Leg, WireError> {
        Ok(Leg {
            deadline_ns: self.varint()?,
            kill_ns: self.varint()?,
            memory_limit: self.varint()?,
            max_output: self.varint()?,
            output_used: self.varint()?,
            max_snapshot: self.varint()?,
            truncate_output: self.flag()?,
        })
    }
    fn settlements(&mut self) -> Result<Vec<Settlement<'a>>, WireError> {
        self.list(4, MAX_OUTSTANDING, |d| {
            Ok(Settlement { id: d.id()?, ok: d.flag()?, value: d.value()? })
        })
    }
    fn end<T>(&self, v: T) -> Result<T, WireError> {
        if self.is_done() { Ok(v) } else { Err(WireError::Malformed("bytes after a frame")) }
    }
}

impl Resume<'_> {
    /// All of the frame that comes before the bytes of the image, which end it.
    pub fn head(&self) -> Vec<u8> {
        let mut w = Writer::frame(2);
        w.leg(&self.leg);
        w.flag(self.release_yields);
        w.settlements(&self.settlements);
        w.num(self.image.len() as u64);
        w.finish_before(self.image.len())
    }
}

/// Type of an `ImagePart` frame.
pub const IMAGE_PART: u8 = 0x86;

/// Bytes of an `ImagePart` frame before those of the image.
pub const IMAGE_PART_HEAD: usize = 5;

/// Makes `frame` one of `ImagePart`: all of it but its head is there.
pub fn finish_image_part(frame: &mut [u8]) {
    let len = (frame.len() - 4) as u32;
    frame[..4].copy_from_slice(&len.to_le_bytes());
    frame[4] = IMAGE_PART;
}

impl Request<'_> {
    /// What it takes of [`crate::MAX_HELD`] if its input is that many values.
    pub fn size(&self, values: usize) -> usize {
        self.op.len() + self.target.len() + self.input.len() + VALUE_COST * values
    }
}

/// Length of the frame that starts in `head`, header included, once four bytes are there.
pub fn frame_len(head: &[u8], max: usize) -> Result<Option<usize>, WireError> {
    let Some(first) = head.first_chunk::<4>() else { return Ok(None) };
    let len = u32::from_le_bytes(*first) as usize;
    if len == 0 {
        return Err(WireError::Malformed("empty frame"));
    }
    if len > max {
        return Err(WireError::TooLarge { len, max });
    }
    Ok(Some(len + 4))
}

impl<'a> ToWorker<'a> {
    /// The whole frame.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Start(s) => {
                let mut w = Writer::frame(1);
                w.leg(&s.leg);
                w.blob(s.code.as_bytes());
                w.flag(s.typescript);
                w.flag(s.allow_javascript);
                w.flag(s.allow_typescript);
                w.blob(&s.globals);
                w.finish()
            }
            Self::Resume(r) => {
                let mut head = r.head();
                head.extend_from_slice(&r.image);
                head
            }
            Self::Settle(s) => {
                let mut w = Writer::frame(3);
                w.settlements(s);
                w.finish()
            }
            Self::Suspend => Writer::frame(4).finish(),
            Self::Data(value) => {
                let mut w = Writer::frame(5);
                w.blob(value);
                w.finish()
            }
        }
    }

    /// Reads a frame without its four length bytes; large parts are not copied.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, WireError> {
        let mut d = Decoder::new(bytes);
        let frame = match d.byte()? {
            1 => Self::Start(Start {
                leg: d.leg()?,
                code: d.owned()?,
                typescript: d.flag()?,
                allow_javascript: d.flag()?,
                allow_typescript: d.flag()?,
                globals: d.value()?.into_owned(),
            }),
            2 => Self::Resume(Resume {
                leg: d.leg()?,
                release_yields: d.flag()?,
                settlements: d.settlements()?,
                image: Cow::Borrowed(d.blob()?),
            }),
            3 => Self::Settle(d.settlements()?),
            4 => Self::Suspend,
            5 => Self::Data(d.value()?),
            _ => return Err(WireError::Malformed("unknown frame type")),
        };
        d.end(frame)
    }
}

impl<'a> FromWorker<'a> {
    /// Bytes of everything that goes on to the model: value, output, and texts.
    pub fn text_len(&self) -> usize {
        let values = |items: &[Cow<'_, [u8]>]| items.iter().map(|i| i.len()).sum::<usize>();
        let texts = |items: &[String]| items.iter().map(String::len).sum::<usize>();
        match self {
            Self::Suspended(s) => values(&s.output) + s.yielded.as_ref().map_or(0, String::len),
            Self::Finished(f) => f.value.len() + values(&f.output) + texts(&f.warnings),
            Self::Failed(f) => {
                let texts = f.code.len() + f.limit.len() + f.message.len() + texts(&f.warnings);
                texts + values(&f.output)
            }
            Self::ImagePart(_) | Self::Image { .. } | Self::Fetch(_) => 0,
        }
    }

    /// The whole frame.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Suspended(s) => {
                let mut w = Writer::frame(0x81);
                w.list(&s.requests, |w, r| {
                    w.num(u64::from(r.id));
                    w.blob(r.op.as_bytes());
                    w.blob(r.target.as_bytes());
                    w.blob(&r.input);
                });
                w.blobs(&s.output);
                w.num(s.output_used);
                if w.option(s.timer_ms.is_some()) {
                    w.num(s.timer_ms.unwrap_or(0));
                }
                if w.option(s.yielded.is_some()) {
                    w.blob(s.yielded.as_deref().unwrap_or("").as_bytes());
                }
                w.flag(s.main_settled);
                w.finish()
            }
            Self::Finished(f) => {
                let mut w = Writer::frame(0x82);
                w.blob(&f.value);
                w.blobs(&f.output);
                w.blobs(&f.warnings);
                w.num(f.output_used);
                w.flag(f.reusable);
                w.finish()
            }
            Self::Failed(f) => {
                let mut w = Writer::frame(0x83);
                w.blob(f.code.as_bytes());
                w.blob(f.limit.as_bytes());
                w.blob(f.message.as_bytes());
                w.option(f.location.is_some());
                if let Some((line, column)) = f.location {
                    w.num(u64::from(line));
                    w.num(u64::from(column));
                }
                w.blobs(&f.output);
                w.blobs(&f.warnings);
                w.finish()
            }
            Self::ImagePart(bytes) => {
                let mut frame = [&[0; IMAGE_PART_HEAD], &**bytes].concat();
                finish_image_part(&mut frame);
                frame
            }
            Self::Image { bytes, uncompressed } => {
                let mut w = Writer::frame(0x84);
                w.num(*uncompressed);
                w.blob(bytes);
                w.finish()
            }
            Self::Fetch(f) => {
                let mut w = Writer::frame(0x85);
                w.0.push(f.kind as u8);
                w.blob(f.argument.as_bytes());
                w.finish()
            }
        }
    }

    /// Reads a frame without its four length bytes; large parts are not copied.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, WireError> {
        if let [IMAGE_PART, part @ ..] = bytes {
            return Ok(Self::ImagePart(Cow::Borrowed(part)));
        }
        let mut d = Decoder::new(bytes).with_most(MAX_VALUES);
        let frame = match d.byte()? {
            0x81 => Self::Suspended(Suspended {
                requests: d.list(5, MAX_OUTSTANDING, |d| {
                    Ok(Request {
                        id: d.id()?,
                        op: d.target()?,
                        target: d.target()?,
                        input: d.value()?,
                    })
                })?,
                output: d.list(2, MAX_ITEMS, Decoder::value)?,
                output_used: d.varint()?,
                timer_ms: if d.flag()? { Some(d.varint()?) } else { None },
                yielded: if d.flag()? { Some(d.owned()?) } else { None },
                main_settled: d.flag()?,
            }),
            0x82 => Self::Finished(Finished {
                value: d.value()?,
                output: d.list(2, MAX_ITEMS, Decoder::value)?,
                warnings: d.list(1, MAX_ITEMS, Decoder::owned)?,
                output_used: d.varint()?,
                reusable: d.flag()?,
            }),
            0x83 => Self::Failed(Failed {
                code: d.owned()?,
                limit: d.owned()?,
                message: d.owned()?,
                location: if d.flag()? { Some((d.id()?, d.id()?)) } else { None },
                output: d.list(2, MAX_ITEMS, Decoder::value)?,
                warnings: d.list(1, MAX_ITEMS, Decoder::owned)?,
            }),
            0x84 => {
                let uncompressed = d.varint()?;
                Self::Image { bytes: Cow::Borrowed(d.blob()?), uncompressed }
            }
            0x85 => {
                let kind = match d.byte()? {
                    1 => FetchKind::Catalog,
                    2 => FetchKind::Names,
                    3 => FetchKind::ApiList,
                    4 => FetchKind::ApiRead,
                    5 => FetchKind::McpNames,
                    _ => return Err(WireError::Malformed("unknown fetch")),
                };
                Self::Fetch(Fetch { kind, argument: d.target()? })
            }
            _ => return Err(WireError::Malformed("unknown frame type")),
        };
        d.end(frame)
    }
}
