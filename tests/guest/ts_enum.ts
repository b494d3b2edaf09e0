// @title enums have values and names
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": [1, "Up", "left"]}
// ---
enum Way { Down, Up }
enum Side { Left = "left" }
return [Way.Up, Way[1], Side.Left];
