// @title btoa refuses what it cannot encode
// @req gst.2
// @expect {"status": "completed", "value": "InvalidCharacterError"}
// ---
try { btoa("€"); } catch (e) { return e.name; }
