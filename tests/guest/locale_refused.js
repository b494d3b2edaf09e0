// @title another locale is refused instead of wrong
// @req gst.2
// @expect {"status": "completed", "value": ["undefined", "RangeError", "RangeError", "RangeError", "RangeError"]}
// ---
const name = (f) => { try { f(); return "wrong"; } catch (e) { return e.name; } };
return [
  typeof Intl,
  name(() => (1234567.5).toLocaleString("de-DE")),
  name(() => new Date(0).toLocaleDateString("de-DE")),
  name(() => "a".localeCompare("b", "sv")),
  name(() => "i".toLocaleUpperCase("tr")),
];
