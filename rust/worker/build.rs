//! The executable is linked at a fixed address: function pointers inside an image of the VM
//! must mean the same in every process of the same build.
fn main() {
    println!("cargo:rustc-link-arg-bins=-no-pie");
    println!("cargo:rustc-link-arg-bins=-Wl,--build-id=sha1");
    if std::env::var_os("CARGO_CFG_CODEMODE_SANITIZE").is_some() {
        let whole = "-Wl,--whole-archive,-l:libasan.a,--no-whole-archive";
        for argument in [whole, "-lstdc++", "-lm", "-ldl", "-lrt", "-lpthread"] {
            println!("cargo:rustc-link-arg-bins={argument}");
        }
    }
    println!("cargo:rerun-if-changed=build.rs");
}
