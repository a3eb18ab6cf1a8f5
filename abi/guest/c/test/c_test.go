// Package test holds the C binding against the contract: natively, and as the committed plug-ins. It is apart from
// the sources since Go takes a folder with both for cgo.
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

// TestNative compiles the tests in C for this machine and runs them over the double: those of the binding, and
// those of the examples.
func TestNative(t *testing.T) {
	t.Run("binding", func(t *testing.T) { native(t, "testdata/native.c") })
	for _, example := range examples(t) {
		t.Run(filepath.Base(example), func(t *testing.T) {
			native(t, filepath.Join(example, "test.c"), filepath.Join(example, "main.c"))
		})
	}
}

// native compiles with sanitizers where the compiler has them.
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
	cmd.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0") // nothing is ever freed
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestFaults compares the constants of the header with the codes of the contract.
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

// TestToolchains builds every committed plug-in of C again, as its toolchain.txt says, and expects the same bytes.
func TestToolchains(t *testing.T) {
	for _, folder := range append(examples(t), "../probe") {
		t.Run(filepath.Base(folder), func(t *testing.T) { rebuild(t, folder) })
	}
}

// examples are the folders of the example tools in C. It reads what they and the binding are made of, for go test
// answers from its cache where nothing changed that the test itself has read.
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

// rebuild expects of toolchain.txt a line for the compiler, one for the linker, as they tell their versions, and
// the command that builds the one .wasm of the folder.
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
		t.Errorf("%s is not what its source and toolchain.txt make: %d bytes; want %d", filepath.Base(committed), len(want), len(got))
	}
}

func haveVersion(t *testing.T, name, want string) {
	t.Helper()
	out, err := exec.Command(tool(t, name), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := strings.Cut(string(out), "\n"); strings.TrimSpace(got) != want {
		t.Skipf("%s is %s, and the plug-in was built by %s", name, got, want)
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
