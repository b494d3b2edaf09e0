// @title annotations and generics
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": ["a1", 3]}
// ---
interface Item { id: string; tags?: string[] }
const first = <T,>(xs: T[]): T | undefined => xs[0];
const items: Item[] = [{ id: "a1", tags: ["x", "y", "z"] }];
return [first(items)?.id, (items[0] as Item).tags!.length];
