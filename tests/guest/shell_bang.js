// @title a shell script is refused
// @req exe.7
// @expect {"status": "failed", "code": "invalid_input", "error": ["shell"]}
// ---
#!/bin/bash
echo hi
