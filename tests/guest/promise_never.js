// @title a promise that nothing can settle fails at once
// @req exe.13
// @expect {"status": "failed", "code": "internal_error", "error": ["nothing left to wait for"]}
// ---
await new Promise(() => {});
return 1;
