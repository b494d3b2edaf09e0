//! Time that the front door adds to a cell. Every answer is checked before it is timed.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use codemode_source::{Options, prepare};

fn main() {
    let cells = [
        ("return 1 + 1", "return 1 + 1".to_owned(), false),
        (
            "trailing expression",
            "const a = await tools.x({ n: 1 });\na.items.length".to_owned(),
            false,
        ),
        ("5 KB JavaScript", filled(5_000, false), false),
        ("5 KB TypeScript", filled(5_000, true), true),
        ("5 KB TypeScript sent as JavaScript", filled(5_000, true), false),
        ("200 KB JavaScript", filled(200_000, false), false),
        ("syntax error", "const = 5;".to_owned(), false),
    ];
    for (name, code, typescript) in cells {
        let options = Options { typescript, allow_javascript: true, allow_typescript: true };
        assert_eq!(prepare(&code, &options).is_ok(), name != "syntax error", "{name}");
        let rounds = if code.len() > 1_000 { 200 } else { 5_000 };
        let mut times: Vec<_> = (0..rounds)
            .map(|_| {
                let start = Instant::now();
                let _ = black_box(prepare(black_box(&code), &options));
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        println!("{name:<36} {:>10.1?} median of {rounds}", times[rounds / 2]);
    }
}

/// A program of about `bytes` bytes of the kind that models write.
fn filled(bytes: usize, typescript: bool) -> String {
    let mut code = String::new();
    let mut n = 0;
    while code.len() < bytes {
        if typescript {
            let _ = write!(
                code,
                "interface Row{n} {{ id: number; name?: string }}\n\
                 const rows{n}: Row{n}[] = [{{ id: {n}, name: `n${{{n}}}` }}];\n\
                 function pick{n}<T extends Row{n}>(list: T[], id: number): T | undefined {{\n  \
                 return list.find((r: T) => r.id === id && r.name !== undefined);\n}}\n"
            );
        } else {
            let _ = write!(
                code,
                "const rows{n} = [{{ id: {n}, name: `n${{{n}}}` }}];\n\
                 function pick{n}(list, id) {{\n  \
                 return list.find((r) => r.id === id && r.name !== undefined);\n}}\n"
            );
        }
        n += 1;
    }
    code.push_str("return pick0(rows0, 0);\n");
    code
}
