// @title a function is text
// @req gst.4
// @expect {"status": "completed", "value": {"f": "[Function: go]", "c": "[class A]"}}
// ---
class A {}
return { f: function go() {}, c: A };
