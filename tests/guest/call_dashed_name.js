// @title a name with a dash has an identifier form
// @req cat.5
// @expect {"status": "completed", "value": ["Ada", "Ada"]}
// ---
return [(await tools.get_user({})).name, (await tools.callValue("get-user", {})).name];
