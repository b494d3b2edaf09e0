// @title a Date is sent as text
// @req gst.4
// @expect {"status": "completed", "value": {"when": "1970-01-01T00:00:00.000Z"}}
// ---
return await tools.callValue("id", { when: new Date(0) });
