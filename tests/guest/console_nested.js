// @title nested values, Maps, Sets, classes
// @req gst.2
// @expect {"status": "completed", "value": 1, "output": ["{ a: { b: { c: [Object] } } }", "Map(1) { 'k' => Set(2) { 1, 2 } }", "Point { x: 1 }", "[class Point] [Function: f]"]}
// ---
class Point { constructor() { this.x = 1; } }
console.log({ a: { b: { c: { d: 1 } } } });
console.log(new Map([["k", new Set([1, 2])]]));
console.log(new Point());
console.log(Point, function f() {});
return 1;
