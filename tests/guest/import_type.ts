// @title a type import is refused with the same message
// @req exe.6 exe.8
// @language typescript
// @expect {"status": "failed", "code": "invalid_input", "error": ["Module access is disabled"]}
// ---
import type { Stats } from "fs";
return 1;
