// Package codecache manages folders of compiled code. Anyone who can write to such a folder could
// make the host execute machine code. A folder is therefore used only if it is intact and private
// to the user.
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

// ErrUnsafe is the error for a folder that other users can access or own.
var ErrUnsafe = errors.New("the folder of compiled code is accessible to others or belongs to another user")

// Make creates a folder with mode 0700 if the folder is missing, and checks that the folder is
// private. If the path is "", Make returns fs.ErrNotExist.
func Make(dir string) error {
	if dir == "" {
		return fs.ErrNotExist
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return Private(dir)
}

// Private checks that a folder belongs to the user and is not accessible to other users. Otherwise
// it returns ErrUnsafe.
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

// sealName is the name of the file that contains the checksum of the other files.
const sealName = "checksum"

// Compiler returns the version of wazero in this program. wazero uses this version as the name of
// its cache folder. In test binaries, the version of wazero is "".
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

// Seal stores the checksum of a folder. Whole verifies it.
func Seal(dir string) error {
	sum, err := checksum(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sealName), []byte(sum), 0o600)
}

// Whole reports whether a folder is unchanged since Seal. Whole detects disk errors. Whole does not
// detect tampering by a user who can write to the folder.
func Whole(dir string) bool {
	stored, err := os.ReadFile(filepath.Join(dir, sealName))
	if err != nil {
		return false
	}
	sum, err := checksum(dir)
	return err == nil && string(stored) == sum
}

// checksum returns a CRC-32C of a folder. The checksum is not cryptographic: some folders contain
// 80 MB and are checked at each start, and a cryptographic hash would take five times as long.
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

// onlyReader and onlyWriter hide all other methods of their values, so that io.CopyBuffer uses the
// given buffer.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)
