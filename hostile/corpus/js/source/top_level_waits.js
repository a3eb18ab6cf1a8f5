// The module never finishes loading.
// expect: timeout or tool_error
await new Promise(() => {});
export default () => 1;
