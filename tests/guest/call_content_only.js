// @title a result without details comes whole
// @req cat.7
// @expect {"status": "completed", "value": {"content": [{"type": "text", "text": "hello"}]}}
// ---
return await tools.callValue("content_only");
