// A number is cut to 2^53 - 1 bits, which are all ones.
// expect: memory_limit or tool_error
return String(BigInt.asUintN(2 ** 53 - 1, -1n) % 10n);
