// @title an instance is its fields
// @req gst.4
// @expect {"status": "completed", "value": {"x": 1, "y": 2}}
// ---
class P { #secret = 3; constructor() { this.x = 1; this.y = 2; } get z() { return 5; } }
return new P();
