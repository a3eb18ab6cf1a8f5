// Package test tests the C binding as native code and in the committed plug-ins. The package is not
// in the folder of the C sources because Go would compile them with cgo.
package test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
)

const binding = ".." // the folder of toolrun.h

// TestNative compiles the C tests of the binding and of the examples for the local machine. In the
// compiled tests, a test double replaces the host.
func TestNative(t *testing.T) {
	t.Run("binding", func(t *testing.T) { native(t, "testdata/native.c") })
	for _, example := range examples(t) {
		t.Run(filepath.Base(example), func(t *testing.T) {
			native(t, filepath.Join(example, "test.c"), filepath.Join(example, "main.c"))
		})
	}
}

// native compiles and runs a program. native enables sanitizers if the compiler supports them.
func native(t *testing.T, sources ...string) {
	cc := tool(t, "cc")
	program := filepath.Join(t.TempDir(), "native")
	sources = append(sources, "../toolrun.c", "../toolrun_json.c", "../stub/toolrun_stub.c")
	args := append([]string{"-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-I" + binding, "-I../stub", "-o", program}, sources...)
	sanitize := []string{"-fsanitize=address,undefined", "-fno-sanitize-recover=all"}
	if err := exec.Command(cc, append(sanitize, args...)...).Run(); err != nil {
		t.Logf("%s without sanitizers", cc)
		if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cc, err, out)
		}
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0") // the binding never frees memory
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestFaults checks that the fault constants of the C header match the codes of package abi.
func TestFaults(t *testing.T) {
	header, err := os.ReadFile(filepath.Join(binding, "toolrun.h"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, match := range regexp.MustCompile(`(?m)^    TOOLRUN_([A-Z_]+) = (\d+)`).FindAllStringSubmatch(string(header), -1) {
		got[strings.ToLower(match[1])], _ = strconv.Atoi(match[2])
	}
	for _, code := range abi.Codes() {
		if got[string(code)] != code.Number() {
			t.Errorf("toolrun.h has %s = %d; want %d", code, got[string(code)], code.Number())
		}
	}
	if len(got) != len(abi.Codes()) {
		t.Errorf("toolrun.h has %d faults; want %d", len(got), len(abi.Codes()))
	}
}

// TestToolchains rebuilds each committed C plug-in with the command in its toolchain.txt. The
// rebuilt plug-in must equal the committed plug-in.
func TestToolchains(t *testing.T) {
	for _, folder := range append(examples(t), "../probe") {
		t.Run(filepath.Base(folder), func(t *testing.T) { rebuild(t, folder) })
	}
}

// examples returns the folders of the example tools in C. examples also reads the source files of
// the examples and of the binding. Therefore go test does not reuse a cached result after a change
// of these files.
func examples(t *testing.T) []string {
	t.Helper()
	folders, err := filepath.Glob("../../../../plugins/examples/*_c")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no examples: %v, %v", folders, err)
	}
	for _, folder := range append(folders, binding) {
		err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			_, err = os.ReadFile(file)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return folders
}

// rebuild rebuilds the plug-in of a folder and compares the result with the committed plug-in. The
// file toolchain.txt contains the build command, the version of the compiler, and the version of
// the linker.
func rebuild(t *testing.T, folder string) {
	text, err := os.ReadFile(filepath.Join(folder, "toolchain.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[2], "$ clang ") {
		t.Fatalf("toolchain.txt = %q; want a compiler, a linker and a command", lines)
	}
	haveVersion(t, "clang", lines[0])
	haveVersion(t, "wasm-ld", lines[1])

	args := strings.Fields(lines[2])[2:]
	output := ""
	built := filepath.Join(t.TempDir(), "plugin.wasm")
	for i := range args[:len(args)-1] {
		if args[i] == "-o" {
			output, args[i+1] = args[i+1], built
		}
	}
	cmd := exec.Command("clang", args...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("clang: %v\n%s", err, out)
	}
	compare(t, filepath.Join(folder, output), built)
}

func compare(t *testing.T, committed, built string) {
	t.Helper()
	want, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: it has %d bytes; its source and toolchain.txt build %d", filepath.Base(committed), len(want), len(got))
	}
}

func haveVersion(t *testing.T, name, want string) {
	t.Helper()
	out, err := exec.Command(tool(t, name), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := strings.Cut(string(out), "\n"); strings.TrimSpace(got) != want {
		t.Skipf("%s is %s, but the plug-in was built with %s", name, got, want)
	}
}

func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(name + " is not installed")
	}
	return path
}
