package records

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// Config configures a DB. App and Backend are required.
type Config struct {
	App     partition.App
	Backend storage.Backend
	// Lock waits for a fair lock of a key, which makes conflicting updates take turns; see txn.DB.Lock. Default: none.
	Lock func(ctx context.Context, keys ...storage.Key) (unlock func(), err error)
	// Quota returns the quota of a caller. It is required for Update and Room, which other uses can do without.
	Quota func(partition.Caller) txn.Quota
	// Now is the clock. Default: the system's.
	Now func() time.Time
	// Logger gets the texts of backend errors, which a caller must not see. Default: discard.
	Logger *slog.Logger
}

// DB is the host's own records of an app, for all its tenants. It is safe for concurrent use.
type DB struct {
	App     partition.App
	Backend storage.Backend

	lock  func(ctx context.Context, keys ...storage.Key) (unlock func(), err error)
	quota func(partition.Caller) txn.Quota
	now   func() time.Time
	log   *slog.Logger
}

// New returns the DB of an app.
func New(cfg Config) *DB {
	db := &DB{App: cfg.App, Backend: cfg.Backend, lock: cfg.Lock, quota: cfg.Quota, now: cfg.Now, log: cfg.Logger}
	if db.lock == nil {
		db.lock = func(context.Context, ...storage.Key) (func(), error) { return func() {}, nil }
	}
	if db.now == nil {
		db.now = time.Now
	}
	if db.log == nil {
		db.log = slog.New(slog.DiscardHandler)
	}
	return db
}

// Now returns the time in the precision that records keep.
func (db *DB) Now() time.Time { return db.now().UTC().Truncate(time.Microsecond) }

// Log returns the logger, for what a caller must not see.
func (db *DB) Log() *slog.Logger { return db.log }

// Get returns the record under a key, the zero Record if there is none.
func (db *DB) Get(ctx context.Context, key storage.Key) (storage.Record, error) {
	found, err := db.Backend.Get(ctx, key)
	if err != nil {
		return storage.Record{}, err
	}
	return found[0], nil
}

// Write adds a record with a state as JSON to writes, with the revision after now's, which is the record that it replaces.
// The zero expires means that it lives until it is removed. Its tags and run are those of the caller.
func (db *DB) Write(writes []storage.Write, now storage.Record, key storage.Key, state any, expires time.Time, c partition.Caller) ([]storage.Write, error) {
	content, err := json.Marshal(state)
	if err != nil {
		return nil, err
	}
	at := db.Now()
	r := storage.Record{
		Key: key, Content: content, Revision: now.Revision + 1, Generation: now.Generation,
		Created: now.Created, Updated: at, Expires: expires, Run: c.Run, Tags: partition.Tags(key, c, ""),
	}
	if !now.Exists() {
		r.Created = at
	}
	return append(writes, storage.Write{Record: r}), nil
}

// Fault returns what a caller may know of an error of the host's own work on the backend: faults and the errors of a
// context as they are, anything else as abi.Unavailable, whose text is logged. Nil stays nil.
func (db *DB) Fault(doing string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*abi.Fault](err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return db.Unavailable(doing, err)
}

// SpaceFault returns the fault for the error of a write for which the quota or the backend has no room, and any other error as
// it is.
func (db *DB) SpaceFault(err error) error {
	over, exceeded := errors.AsType[*storage.OverBudgetError](err)
	switch {
	case exceeded:
		holder := "the app"
		if over.Account.Part(storage.User) != "" {
			holder = "the user"
		}
		return abi.Faultf(abi.QuotaExceeded, "quota of %s: the write adds %d, and %s may hold %d", over.Unit, over.Added, holder, over.Max).
			WithHint("delete records or files, or raise the limit")
	case errors.Is(err, storage.ErrFull) && !errors.Is(err, storage.ErrUnknownOutcome):
		db.log.Error("the backend is full", "error", err)
		return abi.Faultf(abi.Unavailable, "the memory backend has no room left").WithHint("delete records or files, or try again later")
	}
	return err
}

// Unavailable logs an error of the backend and returns what a caller may know of it.
func (db *DB) Unavailable(doing string, err error) error {
	db.log.Error("the backend failed", "doing", doing, "error", err)
	return abi.Faultf(abi.Unavailable, "the memory backend failed").WithHint("try again later; the host's log says why")
}
