//! codemode catalog
