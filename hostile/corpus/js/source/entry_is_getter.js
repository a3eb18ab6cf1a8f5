// The module has a function to run when it is asked for it, and does not answer.
// expect: timeout
module.exports = { get default() { for (;;); }, get main() { for (;;); } };
