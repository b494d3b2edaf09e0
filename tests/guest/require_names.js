// @title methods and text of these names are fine
// @req exe.6
// @expect {"status": "completed", "value": [42, "fs", 1, "import x from 'y'"]}
// ---
const api = { import() { return 42; }, require: (x) => x, meta: { import: { meta: 1 } } };
return [api.import(), api.require("fs"), api.meta.import.meta, "import x from 'y'"];
