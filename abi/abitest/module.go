package abitest

import "github.com/toolrun/toolrun/internal/wasm/wasmtest"

// Module returns a plug-in that makes the calls of the vector and checks their results. The entry
// point of the plug-in returns v.Exit if all results and bytes match. Otherwise, it traps.
func (v Vector) Module() []byte {
	m := &wasmtest.Module{Pages: 1}
	imported := map[string]uint32{}
	for _, s := range v.Steps {
		if _, ok := imported[s.Function]; !ok {
			imported[s.Function] = m.Import(s.Function, len(s.Args))
		}
	}
	var steps []byte
	for _, s := range v.Steps {
		args := make([]int32, len(s.Args))
		for i, arg := range s.Args {
			args[i] = int32(uint32(arg))
		}
		steps = append(steps, wasmtest.Trap(wasmtest.Call(imported[s.Function], args...), wasmtest.Const(s.Result))...)
	}
	for _, span := range v.After {
		steps = append(steps, checkBytes(span)...)
	}
	for _, span := range v.Before {
		m.Data(span.At, span.Bytes)
	}
	m.Func("toolrun_abi_1", 0)
	if v.Initializing {
		m.Func("_initialize", 0, steps...)
		steps = nil
	}
	m.Func("toolrun_run", 1, append(steps, wasmtest.Const(v.Exit)...)...)
	return m.Bytes()
}

// checkBytes returns code that traps unless memory contains the bytes of s.
func checkBytes(s Span) (code []byte) {
	for i := range len(s.Bytes) {
		load := append(wasmtest.Const(int32(s.At)+int32(i)), wasmtest.I32Load8U, 0, 0)
		code = append(code, wasmtest.Trap(load, wasmtest.Const(int32(s.Bytes[i])))...)
	}
	return code
}
