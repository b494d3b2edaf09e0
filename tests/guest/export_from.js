// @title a re-export is refused
// @req exe.6
// @expect {"status": "failed", "code": "invalid_input", "error": ["Module access is disabled"]}
// ---
export { readFile } from "fs";
