// What is thrown is a proxy whose target is gone.
// expect: tool_error
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
throw proxy;
