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

// Install fetches the runtime by the npm client of this machine and puts it into dir, which is made where there is
// none. It returns where the file lies; where it lies there already, whole, it fetches nothing.
//
// progress, which may be nil, hears how many bytes of the file are there: 0 as long as npm is at work, which does not
// tell how far it is, then more and more while the file is unpacked. It is called by the goroutine of Install.
//
// The error is an *abi.Fault with code unavailable and a hint that says what to do, or invalid_argument where dir is ""; or
// it wraps the cause of ctx's end. What an installation leaves that fails, is cancelled or killed is never found by Find.
// Installations into the same folder may run at once, in several processes too.
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
	defer func() { _ = os.RemoveAll(work) }() // what is left is cleared away by a later installation
	file, err = r.installFrom(ctx, dir, work, progress)
	if err != nil && ctx.Err() != nil {
		return "", fmt.Errorf("install the Python runtime: %w", context.Cause(ctx))
	}
	return file, err
}

// installFrom fetches and unpacks in the folder work, and moves what came of it into place.
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
	// One step that replaces whatever is there: nobody finds a part, and of two installations the last one counts.
	if err := os.Rename(fresh, file); err != nil {
		return "", folderFault(err)
	}
	return file, nil
}

// unpackFault says why an archive did not become the runtime.
func unpackFault(err error) error {
	if _, ok := errors.AsType[*abi.Fault](err); ok {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) {
		return abi.Faultf(abi.Unavailable, "the disk is full").WithHint(hintSpace)
	}
	return abi.Faultf(abi.Unavailable, "the package %s cannot be unpacked: %v", Package, reason(err)).
		WithHint("try again; npm cache clean --force drops what npm may have kept of it")
}
