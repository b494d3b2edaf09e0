// @title a directive is no value
// @req exe.5
// @expect {"status": "completed", "value": 1}
// ---
"use strict";
return 1;
