// @title without MCP there is no MCP global
// @req gst.1
// @expect {"status": "completed", "value": "undefined"}
// ---
return typeof MCP;
