// @title require is refused before anything runs
// @req exe.6
// @expect {"status": "failed", "code": "invalid_input", "error": ["Module access is disabled"], "output": []}
// ---
text("must not appear");
const fs = require("fs");
return 1;
