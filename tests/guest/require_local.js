// @title a local function called require is fine
// @req exe.6
// @expect {"status": "completed", "value": "fs!"}
// ---
const require = (name) => name + "!";
return require("fs");
