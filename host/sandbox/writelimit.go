package sandbox

import (
	"errors"
	"io/fs"
	"os"

	"github.com/toolrun/toolrun/abi"
)

// The limits on what the compilation of a source can write. Machine code is up to ten
// times as large as its source.
const (
	maxWrittenBytes = 256 << 20
	maxWrittenFiles = 100
)

// maxSharedEntries is the maximum number of files and folders in shared state.
const maxSharedEntries = 1000

// writeLimit limits the files that a worker writes to its folder.
type writeLimit struct {
	folder string
	bytes  int64
	files  int // files and folders
}

// exceeded returns a fault if the folder exceeds the limit or cannot be read. A nil writeLimit is
// never exceeded.
func (k *writeLimit) exceeded() error {
	if k == nil {
		return nil
	}
	root, err := os.OpenRoot(k.folder)
	if err != nil {
		return k.fault()
	}
	defer root.Close()
	bytes, files := int64(0), 0
	err = fs.WalkDir(root.FS(), ".", func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return ignoreGone(err)
		}
		info, err := entry.Info()
		if err != nil {
			return ignoreGone(err)
		}
		if !entry.IsDir() {
			bytes += info.Size()
		}
		if files++; files > k.files || bytes > k.bytes {
			return errProtocol
		}
		return nil
	})
	if err != nil {
		return k.fault()
	}
	return nil
}

func (k *writeLimit) fault() error {
	return abi.Faultf(abi.SourceInvalid, "the compiled tool exceeds %d MiB or %d files", k.bytes>>20, k.files).WithHint("make the tool smaller")
}

// ignoreGone returns nil if the error means that a file does not exist, because files can be
// removed during the check. A worker first writes a file under a temporary name, and renames it
// later.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
