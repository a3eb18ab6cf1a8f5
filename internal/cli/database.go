package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// The database that an app has where none is named: beside its file, in a folder of its own.
const (
	stateFolder  = ".toolrun"
	databaseName = "memory.db"
)

// database is where an app's records are kept, and how it is opened.
type database struct {
	// path is absolute; named is true where a flag gave it.
	path  string
	named bool
	env   Env
}

// newDatabase returns the database that a flag or an argument names.
func newDatabase(env Env, written string) database {
	return database{path: env.path(written), named: true, env: env}
}

// database returns the database that is named, or the app's own for "".
func (pr *project) database(written string) database {
	if written != "" {
		return newDatabase(pr.env, written)
	}
	return database{path: filepath.Join(pr.dir, stateFolder, databaseName), env: pr.env}
}

// shown returns the path as a person would write it.
func (db database) shown() string { return db.env.show(db.path) }

// open opens the database. Where it does not exist, it is made for who wants to keep something. Who only
// looks finds it empty; but one that was named should be there.
func (db database) open(keep bool) (storage.Backend, error) {
	return db.openWith(keep, nil)
}

func (db database) openWith(keep bool, options *bolt.Options) (storage.Backend, error) {
	_, err := os.Stat(db.path)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && !keep && db.named:
		return nil, noDatabase(db.shown())
	case missing && !keep:
		return mem.New(), nil
	case missing && !db.named:
		if err := makeStateFolder(filepath.Dir(db.path)); err != nil {
			return nil, abi.Faultf(abi.Unavailable, "make the folder %s: %v", db.env.show(filepath.Dir(db.path)), cause(err))
		}
	}
	backend, err := bolt.Open(db.path, options)
	if err != nil {
		return nil, db.fault("open", err)
	}
	return backend, nil
}

func noDatabase(shown string) error {
	f := abi.Faultf(abi.NotFound, "there is no database %s", shown)
	return &usageError{f.WithHint("the first run that remembers something makes it")}
}

// makeStateFolder makes the folder of a database, for nobody else to read and for no version control to keep.
func makeStateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}

const hintInUse = "another process has it open; if that is toolrun serve, use --server URL"

// fault says why a database file cannot be used.
func (db database) fault(doing string, err error) error {
	shown := db.shown()
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		g := *f
		g.Message = fmt.Sprintf("%s the database %s: %s", doing, shown, f.Message)
		if f.Code == abi.Unavailable {
			g.Hint = hintInUse
		}
		return &g
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	_, text, found := strings.Cut(err.Error(), db.path+": ")
	if !found {
		text = cause(err).Error()
	}
	return abi.Faultf(abi.Unavailable, "%s the database %s: %s", doing, shown, text)
}
