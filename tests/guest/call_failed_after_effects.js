// @title a failure says what was already called
// @req exe.3
// @expect {"status": "failed", "code": "internal_error", "error": ["later bug"], "toolCalls": 2}
// ---
await tools.create_note({ title: "1" });
await tools.create_note({ title: "2" });
throw new Error("later bug");
