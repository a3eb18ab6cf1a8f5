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

// By default, the database of an app is in a folder next to the app file.
const (
	stateFolder  = ".toolrun"
	databaseName = "memory.db"
)

// database is the location of an app's records.
type database struct {
	// path is the absolute path of the database. named is true if a flag or an argument specifies
	// the database.
	path  string
	named bool
	env   Env
}

// newDatabase returns the database that a flag or an argument specifies.
func newDatabase(env Env, written string) database {
	return database{path: env.path(written), named: true, env: env}
}

// database returns the database with the given name. If the name is "", the method returns the
// app's default database.
func (pr *project) database(written string) database {
	if written != "" {
		return newDatabase(pr.env, written)
	}
	return database{path: filepath.Join(pr.dir, stateFolder, databaseName), env: pr.env}
}

// shown returns the path of the database in the form that a user would write.
func (db database) shown() string { return db.env.show(db.path) }

// open opens the database. If the database does not exist and keep is true, open creates the
// database. If keep is false, open never creates a database. If keep is false and a named database
// does not exist, open fails. If keep is false and the default database does not exist, open
// returns an empty database in memory.
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
			return nil, abi.Faultf(abi.Unavailable, "cannot create the folder %s: %v", db.env.show(filepath.Dir(db.path)), cause(err))
		}
	}
	backend, err := bolt.Open(db.path, options)
	if err != nil {
		return nil, db.fault("open", err)
	}
	return backend, nil
}

func noDatabase(shown string) error {
	f := abi.Faultf(abi.NotFound, "the database %s does not exist", shown)
	return &usageError{f.WithHint("run a tool that writes a record to create the database")}
}

// makeStateFolder creates the folder of a database. Only the owner can read the folder. Git ignores
// it.
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

const hintInUse = "close the database in the other process; if that process is `toolrun serve`, use --server URL"

// fault returns the fault to report if a database file cannot be opened.
func (db database) fault(doing string, err error) error {
	shown := db.shown()
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		g := *f
		g.Message = fmt.Sprintf("cannot %s the database %s: %s", doing, shown, f.Message)
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
	return abi.Faultf(abi.Unavailable, "cannot %s the database %s: %s", doing, shown, text)
}
