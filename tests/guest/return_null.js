// @title a returned null is a value
// @req exe.5
// @expect {"status": "completed", "value": null}
// ---
return null;
