// @title a Date is ISO text
// @req gst.4
// @expect {"status": "completed", "value": ["2024-01-05T10:00:00.000Z", null]}
// ---
return [new Date("2024-01-05T10:00:00Z"), new Date(NaN)];
