//! Gives the protocol a name that changes with any text of this crate.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=src");
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let mut paths: Vec<_> = std::fs::read_dir(Path::new(&root).join("src"))
        .expect("a crate has sources")
        .map(|entry| entry.expect("a readable directory").path())
        .collect();
    paths.sort();
    // FNV-1a: the same in every version of the compiler.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for path in paths {
        for byte in std::fs::read(path).expect("a readable source") {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    let version = std::env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    println!("cargo::rustc-env=CODEMODE_PROTOCOL={version}-{hash:016x}");
}
