package distribution

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/toolrun/toolrun/abi"
)

var (
	errNoFolder = errors.New("it is no folder")
	errUnsafe   = errors.New("other users may write to it")
)

// checkFolder reports why a folder cannot be trusted with what will be run. A link to one is none.
func checkFolder(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return errNoFolder
	case !private(info):
		return errUnsafe
	}
	return nil
}

// makeFolder makes a folder of mode 0700, or checks the one that is there.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return checkFolder(dir)
}

// scratch makes the folder that an installation works in, and clears away what killed ones left.
func scratch(home string) (dir string, err error) {
	const prefix, left = "new-", 24 * time.Hour // no installation takes that long
	entries, err := os.ReadDir(home)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && strings.HasPrefix(entry.Name(), prefix) && time.Since(info.ModTime()) > left {
			_ = os.RemoveAll(filepath.Join(home, entry.Name())) // the next one tries again
		}
	}
	return os.MkdirTemp(home, prefix)
}

// folderFault says why the folder of the runtimes cannot be used.
func folderFault(err error) error {
	f := abi.Faultf(abi.Unavailable, "the folder for the Python runtime cannot be used: %v", reason(err))
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return f.WithHint(hintSpace)
	case errors.Is(err, errUnsafe), errors.Is(err, errNoFolder):
		return f.WithHint("remove the folder python from toolrun's cache folder, and it is made anew")
	}
	return f
}

const hintSpace = "free 100 MB on the disk that holds toolrun's cache folder"

// reason is an error of the file system without the path, which is nobody else's business.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
