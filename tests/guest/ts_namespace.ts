// @title namespaces work
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": [3, "v"]}
// ---
namespace Geo {
  export const origin = "v";
  export function dist(a: number, b: number) { return b - a; }
}
return [Geo.dist(1, 4), Geo.origin];
