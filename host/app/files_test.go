//go:build unix

package app_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/problem"
)

// openFolder writes files into a new folder, and opens the folder with os.OpenRoot. openFolder also
// writes a secret file next to the folder.
func openFolder(t *testing.T, parts ...string) (dir string, fsys fs.FS) {
	t.Helper()
	above := t.TempDir()
	dir = filepath.Join(above, "app")
	write(t, filepath.Join(above, "secret.json"), `{"type": "object", "title": "top secret"}`)
	for i := 0; i < len(parts); i += 2 {
		write(t, filepath.Join(dir, parts[i]), parts[i+1])
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return dir, root.FS()
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The paths in an app file can be arbitrary. Load must never read a file outside of the folder of
// the app. No message may contain a path of the host.
func TestNothingOutsideIsRead(t *testing.T) {
	dir, fsys := openFolder(t, "app.yaml", `app: shop
memory:
  dots: {access: user, schema: ../secret.json}
  deep: {access: user, schema: a/b/../../../secret.json}
  link: {access: user, schema: link.json}
  through: {access: user, schema: up/secret.json}
  absolute: {access: user, schema: absolute.json}
  inside: {access: user, schema: inside.json}
tools:
  dots: {source: ../secret.js, description: d}
  link: {source: link.json, description: d}
  folder: {source: up, description: d}
  manifest: {source: tool, description: d}
`, "real.json", `{"type": "object"}`, "tool/main.js", "")
	for link, target := range map[string]string{
		"link.json": "../secret.json", "up": "..", "absolute.json": filepath.Join(filepath.Dir(dir), "secret.json"),
		"inside.json": "real.json", "tool/tool.json": "../../secret.json",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links on this system: %v", err)
		}
	}
	_, problems := app.Load(fsys, "app.yaml")
	at := map[int]bool{}
	for _, p := range problems {
		if p.Code != problem.OutsideFolder {
			t.Errorf("problem = [%s] %s; want outside_folder", p.Code, p)
		}
		at[p.Line] = true
	}
	for _, line := range []int{3, 4, 5, 6, 7, 10, 11, 12, 13} {
		if !at[line] {
			t.Errorf("no problem in line %d of app.yaml", line)
		}
	}
	if at[8] {
		t.Error("a link within the folder was rejected; want no problem")
	}
	if text := problems.Error(); strings.Contains(text, filepath.Dir(dir)) || strings.Contains(text, "top secret") {
		t.Errorf("the problems contain paths or contents of the host:\n%s", text)
	}
}

// Load must not open a named pipe, because opening a named pipe would block. If a folder is used as
// a file, Load must report it.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir, fsys := openFolder(t, "app.yaml", `app: shop
memory: {pipe: {access: user, schema: pipe.json}, folder: {access: user, schema: folder}}
tools: {pipe: {source: pipe.js, description: d}}
`, "folder/x", "")
	for _, name := range []string{"pipe.json", "pipe.js"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
			t.Skipf("no named pipes on this system: %v", err)
		}
	}
	_, problems := app.Load(fsys, "app.yaml")
	if len(problems) != 3 {
		t.Errorf("problems = %v; want three", problems)
	}
}

// If many tools reference the same large schema, the duration of Load must still be limited.
func TestTotalBytes(t *testing.T) {
	schema := `{"type": "object", "description": "` + strings.Repeat("x", 200<<10) + `"}`
	text := "app: shop\ntools:\n"
	for i := range 100 {
		text += fmt.Sprintf("  t%d: {source: t.js, description: d, inputSchema: large.json}\n", i)
	}
	a, problems := app.Load(files("app.yaml", text, "large.json", schema, "t.js", ""), "app.yaml")
	if a == nil || len(a.Tools[10].Broken) > 0 || len(a.Tools[99].Broken) != 1 || a.Tools[99].Broken[0].Code != problem.OverLimit {
		t.Errorf("100 tools with 200 KiB each: %v; want errors only for the last tools, which exceed the limit", problems)
	}
}

func TestAppFileNotThere(t *testing.T) {
	a, problems := app.Load(files("app.yml", "app: shop"), "app.yaml")
	if a != nil || len(problems) != 1 || problems[0].String() != "app.yaml: the path \"app.yaml\" does not exist\n  hint: did you mean app.yml?" {
		t.Errorf("Load = %v, %v", a, problems)
	}
	for _, name := range []string{"../app.yaml", "/app.yaml", ""} {
		if a, problems := app.Load(files(), name); a != nil || problems.Err() == nil {
			t.Errorf("Load(%q) = %v, %v; want problems", name, a, problems)
		}
	}
}

// failing is a file that cannot be read. Its method "Read" returns an error that contains a path of
// the host.
type failing struct{ fstest.MapFS }

func (f failing) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: "/srv/tenant/" + name, Err: fs.ErrPermission}
}

func TestUnreadableFileTellsNoPath(t *testing.T) {
	_, problems := app.Load(failing{files("app.yaml", "app: shop")}, "app.yaml")
	if text := problems.Error(); !strings.Contains(text, "permission denied") || strings.Contains(text, "/srv") {
		t.Errorf("problems = %q; want permission denied without a path of the host", text)
	}
}
