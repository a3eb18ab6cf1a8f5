// A deletion before the stack is full.
// expect: stack_limit
await memory.delete_content("shared");
const down = () => down() + 1;
down();
