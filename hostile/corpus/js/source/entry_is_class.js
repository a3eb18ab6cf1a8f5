// The function to run cannot be called.
// expect: tool_error or source_invalid
export default class { constructor() { return 1; } }
