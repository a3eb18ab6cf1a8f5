// A proxy is gone in the midst of being written.
// expect: output_invalid or tool_error
const { proxy, revoke } = Proxy.revocable({ a: 1, b: 2 }, { get(target, key) { if (key === "a") revoke(); return target[key]; } });
return proxy;
