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
	"path/filepath"

	"github.com/tetratelabs/wazero"

	"github.com/toolrun/toolrun/internal/codecache"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

//go:generate sh generate.sh

// packed is the library as its package has it, compressed: see generate.sh.
//
//go:embed pdfium.wasm.gz
var packed []byte

// rewriting is the version of what is done to the library before it is compiled. A change of what packages fuel and snapshot
// write raises it.
const rewriting = 1

// Version names what Compile makes: Open reads what a program of the same Version has written.
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

// moduleName is the file, besides those of wazero, that holds the module as it was rewritten.
const moduleName = "module"

// Compile compiles the library into a folder, for Open. It takes seconds of processor time. The folder is made with mode 0700
// if there is none; it is to be empty, and holds nothing else afterwards.
func Compile(ctx context.Context, dir string) error {
	module, err := rewritten()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("pdfium: keep the library: %w", err)
	}
	text, err := module.MarshalBinary()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, moduleName), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("pdfium: keep the library: %w", err)
	}
	m, err := compileAt(ctx, dir, module)
	if err != nil {
		return err
	}
	return errors.Join(codecache.Seal(dir), m.close())
}

func rewritten() (*snapshot.Module, error) {
	code, err := unpack()
	if err != nil {
		return nil, fmt.Errorf("pdfium: unpack the library: %w", err)
	}
	module, err := rewrite(code)
	if err != nil {
		return nil, fmt.Errorf("pdfium: rewrite the library: %w", err)
	}
	return module, nil
}

func compileAt(ctx context.Context, dir string, module *snapshot.Module) (*machine, error) {
	files, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("pdfium: open the compiled library: %w", err)
	}
	return compileWith(ctx, files, module)
}

var errDamaged = errors.New("pdfium: the compiled library is missing or damaged")

// Open starts the library that Compile left in a folder, to which only this user may write. An empty dir compiles it anew.
func Open(ctx context.Context, dir string) (*Library, error) {
	if dir == "" {
		module, err := rewritten()
		if err != nil {
			return nil, err
		}
		m, err := compileWith(ctx, wazero.NewCompilationCache(), module)
		if err != nil {
			return nil, err
		}
		return start(ctx, m)
	}
	if codecache.Private(dir) != nil || !codecache.Whole(dir) {
		return nil, errDamaged
	}
	text, err := os.ReadFile(filepath.Join(dir, moduleName))
	if err != nil {
		return nil, errDamaged
	}
	module := new(snapshot.Module)
	if module.UnmarshalBinary(text) != nil {
		return nil, errDamaged
	}
	m, err := compileAt(ctx, dir, module)
	if err != nil {
		return nil, err
	}
	return start(ctx, m)
}

// Prepare opens what starting instances takes from the system. A process calls it before it gives up the right to open files.
func Prepare() { snapshot.Prepare() }
