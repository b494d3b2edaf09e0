// @title a fence of shell is refused
// @req exe.7
// @expect {"status": "failed", "code": "invalid_input", "error": ["tools.search"]}
// ---
```bash
ls -la
```
