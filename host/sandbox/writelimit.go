package sandbox

import (
	"errors"
	"io/fs"
	"os"

	"github.com/toolrun/toolrun/abi"
)

// What compiling a source may leave: its machine code takes up to ten times its own size.
const (
	maxWrittenBytes = 256 << 20
	maxWrittenFiles = 100
)

// maxSharedParts is how many files and folders may be made of what a language shares.
const maxSharedEntries = 1000

// keptLimit bounds what a worker writes to its folder.
type writeLimit struct {
	folder string
	bytes  int64
	files  int // and folders
}

// exceeded returns a fault where there is more than that in the folder. What cannot be looked at is too much. Of nil it
// returns nil.
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
	return abi.Faultf(abi.SourceInvalid, "the tool compiles to more than %d MiB, or %d files", k.bytes>>20, k.files).WithHint("make the tool smaller")
}

// ignoreGone leaves out what was removed meanwhile: a worker writes under another name first.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
