// @title generic classes and abstract ones
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": [2, "Box"]}
// ---
abstract class Base<T> {
  protected items: T[] = [];
  abstract get label(): string;
  add(x: T): this { this.items.push(x); return this; }
  get size(): number { return this.items.length; }
}
class Box extends Base<string> { override get label() { return "Box"; } }
const b = new Box().add("a").add("b");
return [b.size, b.label];
