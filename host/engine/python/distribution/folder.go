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
	errNoFolder = errors.New("not a folder")
	errUnsafe   = errors.New("other users have write access")
)

// checkFolder returns an error if a folder is not safe for executable files. checkFolder rejects
// symbolic links.
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

// makeFolder creates a folder with mode 0700. If the folder already exists, makeFolder only checks
// the folder.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return checkFolder(dir)
}

// scratch creates the working folder of an installation. The function also removes the working
// folders of earlier installations that were killed.
func scratch(home string) (dir string, err error) {
	const prefix, maxAge = "new-", 24 * time.Hour // a duration that exceeds any installation
	entries, err := os.ReadDir(home)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && strings.HasPrefix(entry.Name(), prefix) && time.Since(info.ModTime()) > maxAge {
			_ = os.RemoveAll(filepath.Join(home, entry.Name())) // a later installation removes the folder
		}
	}
	return os.MkdirTemp(home, prefix)
}

// folderFault returns the fault for a folder in which the runtime cannot be installed.
func folderFault(err error) error {
	f := abi.Faultf(abi.Unavailable, "cannot use the folder for the Python runtime: %v", reason(err))
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return f.WithHint(hintSpace)
	case errors.Is(err, errUnsafe), errors.Is(err, errNoFolder):
		return f.WithHint("delete the folder `python` in toolrun's cache folder; toolrun creates the folder again")
	}
	return f
}

const hintSpace = "free 100 MB on the disk that holds toolrun's cache folder"

// reason removes the path from a file system error, because the path must not leave the machine.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
