// @title Buffer points at Uint8Array and btoa
// @req gst.2
// @expect {"status": "failed", "code": "internal_error", "error": ["Buffer is not defined", "btoa"]}
// ---
return Buffer.from("a").toString("base64");
