// @title a node hashbang is ignored
// @req exe.5
// @expect {"status": "completed", "value": 1}
// ---
#!/usr/bin/env node
return 1;
