// @title names in other scripts
// @req exe.5
// @expect {"status": "completed", "value": {"größe": 3, "数": "三"}}
// ---
const größe = 3, 数 = "三";
return { größe, 数 };
