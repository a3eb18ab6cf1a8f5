package test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// noLibrary matches the errors that clang or the linker reports if a part of wasi-libc is missing.
var noLibrary = regexp.MustCompile(`stdio.h' file not found|cannot open .*(crt1-reactor.o|libclang_rt)`)

// TestLibrary builds and runs a plug-in that uses wasi-libc.
func TestLibrary(t *testing.T) {
	clang := tool(t, "clang")
	tool(t, "wasm-ld")
	plugin := filepath.Join(t.TempDir(), "plugin.wasm")
	cmd := exec.Command(clang, "--target=wasm32-wasi", "-mexec-model=reactor", "-Os", "-I"+binding, "-o", plugin,
		"testdata/libc.c", "../toolrun.c", "../toolrun_json.c")
	out, err := cmd.CombinedOutput()
	if err != nil && noLibrary.Match(out) {
		t.Skip("wasi-libc is not installed")
	}
	if err != nil {
		t.Fatalf("clang: %v\n%s", err, out)
	}
	const want = `[{"a":1},{"b":2},"xy"]`
	if got := run(t, load(t, plugin), `{"a":1}`, `{"b":2}`); string(got.Output) != want {
		t.Errorf("Run = %s; want %s", got.Output, want)
	}
}
