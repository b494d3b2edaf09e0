// @title parameter properties are set
// @req exe.8
// @language typescript
// @expect {"status": "completed", "value": "Ada is 36"}
// ---
class Person {
  constructor(public readonly name: string, private age = 36) {}
  text(): string { return `${this.name} is ${this.age}`; }
}
return new Person("Ada").text();
