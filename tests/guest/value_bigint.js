// @title a BigInt is an integer
// @req gst.4
// @expect {"status": "completed", "value": [10, 123456789012345678901234567890]}
// ---
return [10n, 123456789012345678901234567890n];
