//! Writes a small corpus for each target into `corpus/`, from what the repository has as text.

use std::path::{Path, PathBuf};

use codemode_fuzz::{parts, prepare_engine, suspended};
use codemode_wire::{
    Failed, Fetch, FetchKind, Finished, FromWorker, Request, Resume, Settlement, Start, Suspended,
    ToWorker,
};

/// One of each kind of value.
const VALUE: &str = "08 06000000 0161 07 03000000 00 01 02 0162 03 f6ffffffffffff1f \
    0163 04 17 2d3132333435363738393031323334353637383930313233 0164 05 9a9999999999f13f \
    0165 06 05 c3a9f09f98 0166 08 00000000";

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    frames(&root.join("corpus/frames"))?;
    images(&root.join("corpus/images"))?;
    copy(&root.join("seeds/schemas"), &root.join("corpus/schemas"), None)?;
    copy(&root.join("../tests/guest"), &root.join("corpus/source"), Some(b'0'))
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks_exact(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

fn frames(to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    let value = || hex(VALUE);
    let settlements = vec![Settlement { id: 3, ok: true, value: vec![3, 4].into() }; 2];
    let orders = [
        ToWorker::Start(Start { code: "1".into(), globals: value(), ..Start::default() }),
        ToWorker::Resume(Resume {
            image: vec![1; 9].into(),
            settlements: settlements.clone(),
            ..Resume::default()
        }),
        ToWorker::Settle(settlements),
        ToWorker::Suspend,
        ToWorker::Data(value().into()),
    ];
    let request = Request { id: 1, op: "call".into(), target: "a".into(), input: value().into() };
    let output = vec![value().into()];
    let warnings = vec!["w".to_owned()];
    let turns = [
        FromWorker::Suspended(Suspended {
            requests: vec![request],
            output: output.clone(),
            timer_ms: Some(300),
            yielded: Some("y".into()),
            ..Suspended::default()
        }),
        FromWorker::Finished(Finished {
            value: value().into(),
            output: output.clone(),
            warnings: warnings.clone(),
            ..Finished::default()
        }),
        FromWorker::Failed(Failed {
            code: "timeout".into(),
            location: Some((1, 2)),
            output,
            warnings,
            ..Failed::default()
        }),
        FromWorker::ImagePart(vec![7; 9].into()),
        FromWorker::Image { bytes: vec![7; 9].into(), uncompressed: 4096 },
        FromWorker::Fetch(Fetch { kind: FetchKind::ApiRead, argument: "a".into() }),
    ];
    let mut stream = vec![3];
    for (at, order) in orders.iter().enumerate() {
        write(to, &format!("order{at}"), &[&[0], &order.encode()[4..]].concat())?;
    }
    for (at, turn) in turns.iter().enumerate() {
        write(to, &format!("turn{at}"), &[&[1], &turn.encode()[4..]].concat())?;
        stream.extend(turn.encode());
    }
    write(to, "stream", &stream)?;
    write(to, "value", &[&[2], &value()[..]].concat())
}

fn images(to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    prepare_engine();
    for (at, code) in ["await yield_control()", "setTimeout(() => 1, 9); await yield_control()"]
        .into_iter()
        .enumerate()
    {
        let image = suspended(code);
        write(to, &format!("whole{at}"), &[&[0], &image[..]].concat())?;
        let (counts, chunks) = parts(&image);
        let mut body = vec![1];
        counts.iter().for_each(|word| body.extend(word.to_le_bytes()));
        body.extend(chunks);
        write(to, &format!("packed{at}"), &body)?;
        let len = u32::from_le_bytes(chunks[..4].try_into().expect("four bytes"));
        let raw = lz4_flex::block::decompress(&chunks[8..], len as usize).expect("own image");
        let tables = &raw[raw.len() - counts[1] as usize..];
        write(to, &format!("tables{at}"), &[&[2], tables].concat())?;
    }
    Ok(())
}

/// Every file, with one byte before it.
fn copy(from: &Path, to: &Path, before: Option<u8>) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    let paths = std::fs::read_dir(from)?.map(|entry| entry.map(|e| e.path()));
    for path in paths.collect::<std::io::Result<Vec<PathBuf>>>()? {
        let text = std::fs::read(&path)?;
        let typescript = path.extension().is_some_and(|e| e == "ts");
        let before = before.map(|b| b + u8::from(typescript));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        write(to, &name, &[&before.into_iter().collect::<Vec<u8>>()[..], &text].concat())?;
    }
    Ok(())
}

fn write(to: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::write(to.join(name), bytes)
}
