//! Prints what becomes of the text on standard input; `--ts` reads it as TypeScript.
use std::io::Read;

use codemode_source::{Options, prepare};

fn main() {
    let mut code = String::new();
    if std::io::stdin().read_to_string(&mut code).is_err() {
        return;
    }
    let typescript = std::env::args().any(|a| a == "--ts");
    let options = Options { typescript, allow_javascript: true, allow_typescript: true };
    match prepare(&code, &options) {
        Ok(p) => println!("{}\nwarnings: {:?}\nmap: {:?}", p.script, p.warnings, p.map),
        Err(refusal) => println!("refused {:?}: {}", refusal.location, refusal.message),
    }
}
