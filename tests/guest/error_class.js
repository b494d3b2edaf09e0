// @title an error class of the model's own
// @req gst.5
// @expect {"status": "failed", "code": "internal_error", "error": ["ValidationError: bad field"]}
// ---
class ValidationError extends Error {
  name = "ValidationError";
}
throw new ValidationError("bad field");
