// @title URLs
// @req gst.2
// @expect {"status": "completed", "value": ["example.test", ["1", "2"], "https://example.test/a?x=1&x=2&q=a+b", "https://example.test/c", "TypeError"]}
// ---
const u = new URL("/a?x=1&x=2", "https://example.test");
const all = u.searchParams.getAll("x");
u.searchParams.append("q", "a b");
let name;
try { new URL("nope"); } catch (e) { name = e.name; }
return [u.hostname, all, u.href, new URL("../c", u).href, name];
