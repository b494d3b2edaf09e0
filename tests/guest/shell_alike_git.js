// @title a program with an object called git runs
// @req exe.7
// @expect {"status": "completed", "value": "s"}
// ---
const git = { status: () => "s" };
git.status()
