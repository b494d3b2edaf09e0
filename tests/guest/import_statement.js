// @title an import is refused
// @req exe.6
// @expect {"status": "failed", "code": "invalid_input", "error": ["Module access is disabled"], "line": 1}
// ---
import fs from "fs";
return fs.readFileSync("/etc/passwd", "utf8");
