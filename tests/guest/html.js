// @title HTML is refused
// @req exe.8
// @expect {"status": "failed", "code": "invalid_input"}
// ---
<!DOCTYPE html>
<html></html>
