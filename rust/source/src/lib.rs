//! codemode source
