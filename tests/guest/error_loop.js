// @title an endless loop is a timeout
// @req exe.10 saf.2
// @config {"timeoutMs": 200}
// @expect {"status": "failed", "code": "timeout", "limit": "time"}
// ---
while (true) {}
