package pdfium

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/toolrun/toolrun/internal/codecache"
	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

//go:generate sh generate.sh

// packed contains the compressed library. The library is an unmodified copy of a file in an npm
// package; see generate.sh.
//
//go:embed pdfium.wasm.gz
var packed []byte

// rewriting is the version of the modifications that Compile makes to the library with packages
// fuel and snapshot. If the output of package fuel or package snapshot changes, increment the
// constant.
const rewriting = 1

// Version returns the version of the output of Compile. If a folder was written by another version
// of Compile, Open rejects the folder.
func Version() string {
	sum := sha256.Sum256(packed)
	return fmt.Sprintf("%d.%s", rewriting, hex.EncodeToString(sum[:8]))
}

func unpack() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Compile compiles the library and writes the result to a folder. Open can read this folder.
// Compile needs several seconds of CPU time. If the folder does not exist, Compile creates it with
// mode 0700. If the folder exists, it must be empty.
func Compile(ctx context.Context, dir string) error {
	code, err := rewritten()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("pdfium: store the library: %w", err)
	}
	m, err := machine.Save(ctx, dir, code, provide)
	if err != nil {
		return fmt.Errorf("pdfium: store the library: %w", err)
	}
	return errors.Join(codecache.Seal(dir), m.Close())
}

func rewritten() (machine.Code, error) {
	packed, err := unpack()
	if err != nil {
		return machine.Code{}, fmt.Errorf("pdfium: unpack the library: %w", err)
	}
	code, err := rewrite(packed)
	if err != nil {
		return machine.Code{}, fmt.Errorf("pdfium: rewrite the library: %w", err)
	}
	return code, nil
}

var errDamaged = errors.New("pdfium: the compiled library is missing or damaged")

// Open starts the library that Compile has written to the given folder. Other users must not have
// write access to the folder. If the argument "dir" is "", Open compiles the library.
func Open(ctx context.Context, dir string) (*Library, error) {
	m, err := openMachine(ctx, dir)
	if err != nil {
		return nil, err
	}
	return start(ctx, m)
}

func openMachine(ctx context.Context, dir string) (*machine.Machine, error) {
	if dir != "" {
		m, err := machine.OpenSealed(ctx, dir, provide)
		if err != nil {
			return nil, errDamaged
		}
		return m, nil
	}
	code, err := rewritten()
	if err != nil {
		return nil, err
	}
	m, err := machine.Compile(ctx, code, provide)
	if err != nil {
		return nil, fmt.Errorf("pdfium: compile the library: %w", err)
	}
	return m, nil
}

// Prepare opens the system resources with which instances are started. If a process drops the
// permission to open files, the process must call Prepare first.
func Prepare() { snapshot.Prepare() }
