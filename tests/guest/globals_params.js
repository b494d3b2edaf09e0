// @title query strings
// @req gst.2
// @expect {"status": "completed", "value": ["a=1&b=x+y", "2", {"k": "v"}, true]}
// ---
const p = new URLSearchParams({ a: 1, b: "x y" });
return [p.toString(), new URLSearchParams("?z=2").get("z"), Object.fromEntries(new URLSearchParams("k=v")), p.has("a")];
