package corpus

import "slices"

// made are the cases that are no text: WebAssembly, and what is too large or too odd to be a file.
func made() []Case {
	return slices.Concat(wasmTime(), wasmSpace(), wasmPointers(), wasmSystem(), wasmFiles(), wasmCompile(), odd(), oddPython())
}

// must reads what is expected, where it is part of the program.
func must(want string) Want {
	w, err := parseWant(want)
	if err != nil {
		panic(err)
	}
	return w
}
