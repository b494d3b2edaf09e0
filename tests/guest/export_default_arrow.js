// @title export default of an arrow is called
// @req exe.5
// @expect {"status": "completed", "value": 5}
// ---
export default async () => 5;
