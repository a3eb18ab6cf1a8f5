// Package codecache is a folder of compiled code: the user's alone, and whole, or not used. What lies there is machine code,
// which whoever can write there could have the host execute.
package codecache

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
)

// ErrUnsafe is the error of a folder that others have rights to, or that is another user's.
var ErrUnsafe = errors.New("others have rights to the folder of compiled code, or it is another user's")

// Make makes a folder with mode 0700 if there is none, and checks that it is the user's alone. "" does not exist.
func Make(dir string) error {
	if dir == "" {
		return fs.ErrNotExist
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return Private(dir)
}

// Private checks that a folder is the user's, and that nobody else can look into it. Otherwise it is an ErrUnsafe.
func Private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ours(info) {
		return ErrUnsafe
	}
	return nil
}

// sealName is the file that holds the checksum of the others.
const sealName = "checksum"

// Compiler names the version of wazero in this program as wazero itself does, which looks for what it compiled in a folder
// of that name, and compiles into it where there is none. Test binaries do not know it.
var Compiler = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, module := range info.Deps {
		if module.Path == "github.com/tetratelabs/wazero" {
			return module.Version
		}
	}
	return ""
})

// Seal notes what is in a folder, for Whole.
func Seal(dir string) error {
	sum, err := checksum(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sealName), []byte(sum), 0o600)
}

// Whole reports whether a folder is as it was sealed. It finds what a disk got wrong, before somebody trusts the counts in
// there; it is no defence against who may write to it.
func Whole(dir string) bool {
	noted, err := os.ReadFile(filepath.Join(dir, sealName))
	if err != nil {
		return false
	}
	sum, err := checksum(dir)
	return err == nil && string(noted) == sum
}

// checksum is a CRC-32C, which takes a fifth of the time of a hash: some folders hold 80 MB, and are looked at in each
// start.
func checksum(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	sum, buffer := crc32.New(crc32.MakeTable(crc32.Castagnoli)), make([]byte, 1<<20)
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == sealName {
			return err
		}
		file, err := root.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		n, err := io.CopyBuffer(onlyWriter{sum}, onlyReader{file}, buffer)
		fmt.Fprintf(sum, "%s %d\n", name, n)
		return err
	})
	return strconv.FormatUint(uint64(sum.Sum32()), 16), err
}

// These hide what else their insides can, so that a copy takes the buffer that it is given.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)
