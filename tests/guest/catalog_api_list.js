// @title API.list answers with files
// @req mcp.3
// @expect {"status": "completed", "value": []}
// ---
return (await API.list()).files;
