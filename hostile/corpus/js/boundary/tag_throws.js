// What tells one kind of object from another is a getter of the guest's.
// expect: tool_error or output {}
return Object.create({ get [Symbol.toStringTag]() { throw new Error("no tag"); } });
