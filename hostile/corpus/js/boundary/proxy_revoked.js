// The answer is a proxy whose target is gone.
// expect: output_invalid or tool_error
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
return proxy;
