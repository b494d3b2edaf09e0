// @title a returned IIFE is one value
// @req exe.5
// @expect {"status": "completed", "value": {"n": 1}}
// ---
return (async () => ({ n: 1 }))();
