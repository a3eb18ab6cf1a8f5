package toolrun

// marker is an export that marks plug-ins built for version 1 of the ABI. marker is never called.
//
//go:wasmexport toolrun_abi_1
func marker() {}

//go:wasmexport toolrun_run
func run() int32 {
	if entry == nil {
		return fail(failure{Message: "the plug-in has no handler: call toolrun.Handle in an init function"})
	}
	return entry()
}
