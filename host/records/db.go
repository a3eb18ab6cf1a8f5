package records

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// Config configures a DB. The fields App and Backend are required.
type Config struct {
	App     partition.App
	Backend storage.Backend
	// Lock is a function that acquires a fair lock on keys. The lock serializes conflicting
	// updates; see txn.DB.Lock. Default: no locks.
	Lock func(ctx context.Context, keys ...storage.Key) (unlock func(), err error)
	// Quota returns the quota of a caller. Quota is required for calls of Update and CheckSpace.
	Quota func(partition.Caller) txn.Quota
	// Now is the clock. Default: the system's.
	Now func() time.Time
	// Logger receives the texts of backend errors. Callers must not see these texts. Default:
	// discard.
	Logger *slog.Logger
}

// A DB provides access to the host records of one app in all tenants. A DB is safe for concurrent
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

// Log returns the logger. The logger receives details that callers must not see.
func (db *DB) Log() *slog.Logger { return db.log }

// Get returns the record with the given key. If the record does not exist, Get returns the zero
// Record.
func (db *DB) Get(ctx context.Context, key storage.Key) (storage.Record, error) {
	found, err := db.Backend.Get(ctx, key)
	if err != nil {
		return storage.Record{}, err
	}
	return found[0], nil
}

// Write appends a write of a record to the argument "writes" and returns the extended list. The
// content of the record is the argument "state" as JSON. The argument "now" is the record that the
// write replaces. The new record has the next higher revision after the replaced record. If the
// argument "expires" is zero, the record does not expire. The caller determines the tags and the
// run id of the record.
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

// Fault converts an internal error of the host. The result is an error for callers. If the error is
// a fault or the error of a context, Fault returns it unchanged. Fault logs any other error and
// returns abi.Unavailable. If the error is nil, Fault returns nil.
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

// SpaceFault converts the error of a write to a fault if the write exceeds the quota or the space
// of the backend. SpaceFault returns any other error unchanged.
func (db *DB) SpaceFault(err error) error {
	over, exceeded := errors.AsType[*storage.OverBudgetError](err)
	switch {
	case exceeded:
		holder := "the app"
		if over.Account.Part(storage.User) != "" {
			holder = "the user"
		}
		added := over.Unit
		if over.Added == 1 {
			added = strings.TrimSuffix(added, "s")
		}
		return abi.Faultf(abi.QuotaExceeded, "the write adds %d %s and would exceed the quota of %s (%d %s)", over.Added, added, holder, over.Max, over.Unit).
			WithHint("delete records or files, or raise the limit")
	case errors.Is(err, storage.ErrFull) && !errors.Is(err, storage.ErrUnknownOutcome):
		db.log.Error("the backend is full", "error", err)
		return abi.Faultf(abi.Unavailable, "the storage backend has no space left").WithHint("delete records or files, or retry later")
	}
	return err
}

// Unavailable logs an error of the backend. Unavailable returns the fault abi.Unavailable, which
// callers can see. If the error wraps storage.ErrCorrupt, the fault reports damaged data and does
// not suggest a retry.
func (db *DB) Unavailable(doing string, err error) error {
	db.log.Error("the backend failed", "doing", doing, "error", err)
	if errors.Is(err, storage.ErrCorrupt) {
		return abi.Faultf(abi.Unavailable, "stored data is damaged").
			WithHint("ask the operator to check the database or to restore a backup; the host's log has the details")
	}
	return abi.Faultf(abi.Unavailable, "the storage backend failed").WithHint("retry later; the host's log has the details")
}
