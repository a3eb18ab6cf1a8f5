// The calls of memory are replaced, for this run and all that follow.
// expect: output or tool_error
try { memory.get_content = () => ({ marker: "planted" }); } catch {}
try { Object.defineProperty(memory, "get_content", { value: () => ({ marker: "planted" }) }); } catch {}
try { Object.setPrototypeOf(memory, { get_content: () => "planted" }); } catch {}
const shared = await memory.get_content("shared");
if (shared.marker !== 1) throw new Error("it was planted");
return shared;
