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
	// Lock acquires a fair lock on keys. The lock serializes conflicting updates; see txn.DB.Lock.
	// Default: no locks.
	Lock func(ctx context.Context, keys ...storage.Key) (unlock func(), err error)
	// Quota is a function that returns the quota of a caller. Update and CheckSpace require a
	// Quota.
	Quota func(partition.Caller) txn.Quota
	// Now is the clock. Default: the system's.
	Now func() time.Time
	// Logger receives the texts of backend errors, which callers must not see. Default: discard.
	Logger *slog.Logger
}

// DB provides access to the host's own records of an app in all tenants. DB is safe for concurrent
// use.
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

// Now returns the current time with the precision of stored records.
func (db *DB) Now() time.Time { return db.now().UTC().Truncate(time.Microsecond) }

// Log returns the logger for details that callers must not see.
func (db *DB) Log() *slog.Logger { return db.log }

// Get returns the record under a key, or the zero Record if no record exists.
func (db *DB) Get(ctx context.Context, key storage.Key) (storage.Record, error) {
	found, err := db.Backend.Get(ctx, key)
	if err != nil {
		return storage.Record{}, err
	}
	return found[0], nil
}

// Write appends a record to the argument "writes" and returns the result. The content of the record
// is the argument "state", encoded as JSON. The argument "now" is the record to replace. The
// revision of the new record is the revision of the replaced record plus 1. If expires is zero, the
// record does not expire. The tags and the run id are taken from the caller.
func (db *DB) Write(writes []storage.Write, now storage.Record, key storage.Key, state any, expires time.Time, c partition.Caller) ([]storage.Write, error) {
	content, err := json.Marshal(state)
	if err != nil {
		return nil, err
	}
	at := db.Now()
	r := storage.Record{
		Key: key, Content: content, Revision: now.Revision + 1, Generation: now.Generation,
		Created: now.Created, Updated: at, Expires: expires, Run: c.Run, Tags: partition.Tags(key, c, partition.Lifetime{}),
	}
	if !now.Exists() {
		r.Created = at
	}
	return append(writes, storage.Write{Record: r}), nil
}

// Fault converts an internal error of the host to an error for callers. Fault returns faults and
// errors of a context unchanged. Fault logs any other error and returns abi.Unavailable. For a nil
// error, Fault returns nil.
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

// SpaceFault returns the fault for the error of a write that exceeds the quota or the space of the
// backend. SpaceFault returns any other error unchanged.
func (db *DB) SpaceFault(err error) error {
	over, exceeded := errors.AsType[*storage.OverBudgetError](err)
	switch {
	case exceeded:
		holder := "the app"
		if over.Account.Part(storage.User) != "" {
			holder = "the user"
		}
		return abi.Faultf(abi.QuotaExceeded, "the quota of %s is exceeded: the write adds %d; the limit of %s is %d", over.Unit, over.Added, holder, over.Max).
			WithHint("delete records or files, or raise the limit")
	case errors.Is(err, storage.ErrFull) && !errors.Is(err, storage.ErrUnknownOutcome):
		db.log.Error("the backend is full", "error", err)
		return abi.Faultf(abi.Unavailable, "the storage backend has no space left").WithHint("delete records or files, or retry later")
	}
	return err
}

// Unavailable logs an error of the backend and returns the fault abi.Unavailable for callers. If the
// error wraps storage.ErrCorrupt, the fault reports damaged data, because a retry would fail again.
func (db *DB) Unavailable(doing string, err error) error {
	db.log.Error("the backend failed", "doing", doing, "error", err)
	if errors.Is(err, storage.ErrCorrupt) {
		return abi.Faultf(abi.Unavailable, "stored data is damaged").
			WithHint("ask the operator to check the database or to restore a backup; the host's log has the details")
	}
	return abi.Faultf(abi.Unavailable, "the storage backend failed").WithHint("retry later; the host's log has the details")
}
