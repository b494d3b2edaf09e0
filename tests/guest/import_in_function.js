// @title an import in constructed code finds no loader
// @req exe.6
// @expect {"status": "completed", "value": "refused"}
// ---
try {
  await new Function("return import('fs')")();
  return "loaded";
} catch (e) {
  return "refused";
}
