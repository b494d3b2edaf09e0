// @title everything alive is alive after a pause
// @req gst.6 snp.1
// @expect {"status": "completed", "value": [2, 5, 1, 3, 4, "P", 9]}
// ---
function* g() { yield 1; yield 2; }
const it = g(); it.next();
const m = new Map([["k", { d: new Date(5) }]]), ws = new WeakMap([[m, 1]]), re = /a/g; re.lastIndex = 3;
class P { #x = 4; get x() { return this.#x; } }
const p = new P();
let n = 8;
const bump = () => ++n;
await yield_control();
return [it.next().value, m.get("k").d.getTime(), ws.get(m), re.lastIndex, p.x, p.constructor.name, bump()];
