// @title the bridge works after the guest broke the built-ins
// @req gst.1 saf.1
// @expect {"status": "completed", "value": [5, true], "output": ["ok { a: 1 }"]}
// ---
try {
  Object.prototype.polluted = 1;
  Array.prototype.map = () => "x";
  String.prototype.concat = () => "z";
  JSON.stringify = () => "y";
  Promise.prototype.then = null;
  Object.defineProperty(Array.prototype, "0", { set() { throw new Error("seen"); } });
} catch {}
const n = await tools.add({ a: 2, b: 3 });
console.log("ok", { a: 1 });
return [n, (await tools.search("add")).length > 0];
