package distribution

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/toolrun/toolrun/abi"
)

// Install fetches the runtime with this machine's npm client and installs it in dir, which it creates if
// it does not exist. It returns the path of the file. If an intact file is installed already, it fetches
// nothing.
//
// Install calls progress, if it is not nil, on its own goroutine with the number of unpacked bytes. The
// number is 0 during the download, because npm does not report its progress.
//
// The error is an *abi.Fault with a hint and the code unavailable, or invalid_argument if dir is "". If
// ctx ends, the error wraps the cause. Find never returns the remains of an installation that failed,
// was cancelled or was killed. Installations into the same folder can run concurrently, also in several
// processes.
func Install(ctx context.Context, dir string, progress func(done, total int64)) (file string, err error) {
	return pinned.install(ctx, dir, progress)
}

func (r release) install(ctx context.Context, dir string, progress func(done, total int64)) (file string, err error) {
	if progress == nil {
		progress = func(done, total int64) {}
	}
	if dir == "" {
		return "", abi.Faultf(abi.InvalidArgument, "there is no folder to install the Python runtime in")
	}
	if file, ok := r.find(dir); ok {
		if _, err := r.read(file); err == nil {
			return file, nil
		}
	}
	if err := makeFolder(home(dir)); err != nil {
		return "", folderFault(err)
	}
	work, err := scratch(home(dir))
	if err != nil {
		return "", folderFault(err)
	}
	defer func() { _ = os.RemoveAll(work) }() // a later installation removes the rest
	file, err = r.installFrom(ctx, dir, work, progress)
	if err != nil && ctx.Err() != nil {
		return "", fmt.Errorf("install the Python runtime: %w", context.Cause(ctx))
	}
	return file, err
}

// installFrom fetches and unpacks the runtime in the folder work, and moves it to its final place.
func (r release) installFrom(ctx context.Context, dir, work string, progress func(done, total int64)) (file string, err error) {
	progress(0, r.bytes)
	archive, err := fetch(ctx, work, Package+"@"+r.version)
	if err != nil {
		return "", err
	}
	fresh := filepath.Join(work, fileName)
	if err := r.unpack(ctx, archive, fresh, progress); err != nil {
		return "", unpackFault(err)
	}
	if err := makeFolder(r.folder(dir)); err != nil {
		return "", folderFault(err)
	}
	file = filepath.Join(r.folder(dir), fileName)
	// The rename is atomic: readers never see a part of the file, and the last of several installations wins.
	if err := os.Rename(fresh, file); err != nil {
		return "", folderFault(err)
	}
	return file, nil
}

// unpackFault returns the fault for an archive that cannot be unpacked.
func unpackFault(err error) error {
	if _, ok := errors.AsType[*abi.Fault](err); ok {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) {
		return abi.Faultf(abi.Unavailable, "the disk is full").WithHint(hintSpace)
	}
	return abi.Faultf(abi.Unavailable, "the package %s cannot be unpacked: %v", Package, reason(err)).
		WithHint("try again; if it fails again, clear npm's cache: npm cache clean --force")
}
