// @title a fence of tildes is removed
// @req exe.5
// @expect {"status": "completed", "value": 2}
// ---
~~~
return 1 + 1;
~~~
