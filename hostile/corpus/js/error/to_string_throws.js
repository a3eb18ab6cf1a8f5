// An error that cannot be made a text of.
// expect: tool_error
throw { toString() { throw new Error("no text"); }, [Symbol.toPrimitive]() { throw new Error("no value"); } };
