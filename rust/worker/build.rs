//! The executable is linked at a fixed address: function pointers inside an image of the VM
//! must mean the same in every process of the same build.
fn main() {
    println!("cargo:rustc-link-arg-bins=-no-pie");
    println!("cargo:rerun-if-changed=build.rs");
}
