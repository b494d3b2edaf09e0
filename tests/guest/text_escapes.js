// @title a program with much text keeps every byte
// @req exe.5
// @expect {"status": "completed", "value": [12, "tab\tnl\nq\"b\\"]}
// ---
const s = 'tab\tnl\nq"b\\';
return [s.length + 1, s];
