// @title Python is named
// @req exe.8
// @expect {"status": "failed", "code": "invalid_input", "error": ["Python"]}
// ---
def main():
    return 1
