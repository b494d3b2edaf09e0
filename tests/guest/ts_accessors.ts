// @title accessors and static blocks
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": [3, "s"]}
// ---
class A {
  static tag: string;
  static { A.tag = "s"; }
  #v = 1;
  get v(): number { return this.#v; }
  set v(x: number) { this.#v = x + 1; }
}
const a = new A();
a.v = 2;
return [a.v, A.tag];
