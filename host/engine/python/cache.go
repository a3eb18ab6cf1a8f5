package python

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tetratelabs/wazero"

	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// cache keeps the interpreter in a folder: as it was rewritten, and as machine code, which whoever can write there could
// have the host execute. So the folder is the user's alone, or it is not used.
type cache struct{ dir string }

// rewriting is the version of what is done to the interpreter before it is compiled. It is part of the key: who changes
// what packages fuel and snapshot write raises it.
const rewriting = 1

var errUnsafe = errors.New("others may write to the cache's folder")

// ready makes the folder, and checks that it is safe to use.
func (c cache) ready() error {
	if c.dir == "" {
		return fs.ErrNotExist
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	return private(c.dir)
}

// private checks that nobody else may write to a folder.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm()&0o022 != 0 || !ours(info) {
		return errUnsafe
	}
	return nil
}

// compile rewrites and compiles the interpreter, or takes the result of an earlier time. Whatever is wrong with the
// cache, an error is the interpreter's own.
func (c cache) compile(ctx context.Context, code []byte) (*machine, error) {
	if c.ready() == nil {
		if m := c.lookUp(ctx, code); m != nil {
			return m, nil
		}
	}
	module, err := rewrite(code)
	if err != nil {
		return nil, err
	}
	return compileWith(ctx, wazero.NewCompilationCache(), module)
}

// lookUp takes an entry or makes one; nil where it can do neither.
func (c cache) lookUp(ctx context.Context, code []byte) *machine {
	sum := sha256.Sum256(code)
	final := filepath.Join(c.dir, fmt.Sprintf("python-%s-%d", hex.EncodeToString(sum[:]), rewriting))
	if whole(final) {
		if m, err := open(ctx, final); err == nil {
			return m
		}
	}
	if os.RemoveAll(final) != nil { // what lies there cannot be used
		return nil
	}
	return c.fill(ctx, final, code)
}

// fill compiles into a fresh folder, which gets its name when it is complete: nobody finds a part of one.
func (c cache) fill(ctx context.Context, final string, code []byte) *machine {
	module, err := rewrite(code)
	if err != nil {
		return nil
	}
	fresh, err := os.MkdirTemp(c.dir, "new-")
	if err != nil {
		return nil
	}
	m, err := compileInto(ctx, fresh, module)
	if err == nil {
		err = seal(fresh)
	}
	if err != nil || os.Rename(fresh, final) != nil { // where another process was faster, that is as good
		_ = os.RemoveAll(fresh)
	}
	return m
}

// The files of an entry beside those of wazero: the module as it was rewritten, and the checksum of all others. wazero
// trusts the counts in its files: one byte that a disk got wrong would have it ask for all of memory.
const (
	moduleName = "module"
	sealName   = "checksum"
)

// compileInto compiles a module and writes an entry.
func compileInto(ctx context.Context, dir string, module *snapshot.Module) (*machine, error) {
	text, err := module.MarshalBinary()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, moduleName), text, 0o600)
	}
	if err != nil {
		return nil, err
	}
	return compileAt(ctx, dir, module)
}

// open reads an entry.
func open(ctx context.Context, dir string) (*machine, error) {
	text, err := os.ReadFile(filepath.Join(dir, moduleName))
	if err != nil {
		return nil, err
	}
	module := new(snapshot.Module)
	if err := module.UnmarshalBinary(text); err != nil {
		return nil, err
	}
	return compileAt(ctx, dir, module)
}

func compileAt(ctx context.Context, dir string, module *snapshot.Module) (*machine, error) {
	files, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open the cache: %w", err)
	}
	return compileWith(ctx, files, module)
}

// seal notes what is in a folder.
func seal(dir string) error {
	sum, err := checksum(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sealName), []byte(sum), 0o600)
}

// whole reports whether a folder is as it was sealed.
func whole(dir string) bool {
	noted, err := os.ReadFile(filepath.Join(dir, sealName))
	if err != nil {
		return false
	}
	sum, err := checksum(dir)
	return err == nil && string(noted) == sum
}

// checksum finds what a disk got wrong; it is no defence against anybody, and so takes no hash that costs 40 ms.
func checksum(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	sum, buffer := crc32.New(crc32.MakeTable(crc32.Castagnoli)), make([]byte, 1<<20)
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == sealName {
			return err
		}
		file, err := root.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		n, err := io.CopyBuffer(onlyWriter{sum}, onlyReader{file}, buffer)
		fmt.Fprintf(sum, "%s %d\n", name, n)
		return err
	})
	return strconv.FormatUint(uint64(sum.Sum32()), 16), err
}

// These hide what else their insides can, so that a copy takes the buffer that it is given.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)
