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

// Install uses this machine's npm client to download the runtime, and installs the runtime in dir.
// Install creates dir if it does not exist. Install returns the path of the installed file. If an
// intact file is already installed, Install downloads nothing.
//
// If progress is not nil, Install calls progress on the calling goroutine. The argument of progress
// is the number of unpacked bytes. During the download, this number is 0, because npm does not
// report the progress of a download.
//
// If ctx ends, the error wraps the cause of ctx. Any other error is an *abi.Fault with a hint. If
// dir is "", the code of the fault is invalid_argument. Otherwise, the code is unavailable. An
// installation that fails, is canceled or is killed can leave files behind. Find ignores these
// files. Several goroutines and processes can install into the same folder concurrently.
func Install(ctx context.Context, dir string, progress func(done, total int64)) (file string, err error) {
	return pinned.install(ctx, dir, progress)
}

func (r release) install(ctx context.Context, dir string, progress func(done, total int64)) (file string, err error) {
	if progress == nil {
		progress = func(done, total int64) {}
	}
	if dir == "" {
		return "", abi.Faultf(abi.InvalidArgument, "no folder is available for the Python runtime")
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
	defer func() { _ = os.RemoveAll(work) }() // a later installation removes the remaining files
	file, err = r.installFrom(ctx, dir, work, progress)
	if err != nil && ctx.Err() != nil {
		return "", fmt.Errorf("install the Python runtime: %w", context.Cause(ctx))
	}
	return file, err
}

// installFrom downloads and unpacks the runtime in the working folder "work". Then installFrom
// moves the runtime to its final path.
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
	// The rename is atomic. Readers never see a partial file. If several installations run
	// concurrently, the last installation replaces the files of the other installations.
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
	return abi.Faultf(abi.Unavailable, "cannot unpack the package %s: %v", Package, reason(err)).
		WithHint("try again; if the installation fails again, clear npm's cache with `npm cache clean --force`")
}
