package corpus

import "slices"

// generated returns the cases that are not text: WebAssembly, and files that are too large or
// unusual.
func generated() []Case {
	return slices.Concat(wasmTime(), wasmSpace(), wasmPointers(), wasmSystem(), wasmFiles(), wasmCompile(), miscSources(), miscPython())
}

// mustWant parses an expected result in the program text. It panics if it is malformed.
func mustWant(want string) Want {
	w, err := parseWant(want)
	if err != nil {
		panic(err)
	}
	return w
}
