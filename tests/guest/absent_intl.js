// @title Intl fails loudly
// @req gst.2
// @expect {"status": "failed", "code": "internal_error", "error": ["Intl is not defined", "locales"]}
// ---
return new Intl.NumberFormat("de-DE").format(1);
