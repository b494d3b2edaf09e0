// @title ALL_TOOLS is filtered by text
// @req gst.1
// @expect {"status": "completed", "value": ["create_note", "list_notes"]}
// ---
return ALL_TOOLS.filter((t) => t.name.includes("note")).map((t) => t.name).sort();
