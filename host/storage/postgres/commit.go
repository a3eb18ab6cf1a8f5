package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolrun/toolrun/host/storage"
)

const (
	// maxAttempts is the maximum number of attempts to commit a transaction that conflicts with
	// other transactions.
	maxAttempts = 24
	// exclusiveAfter is the number of conflicts after which no other update of this process runs at
	// the same time as the conflicting update.
	exclusiveAfter = 3
	// maxBackoff is the maximum wait before another attempt.
	maxBackoff = 50 * time.Millisecond
	// commitTimeout is the maximum waiting time for a commit. The end of the caller's context does
	// not interrupt a commit.
	commitTimeout = 30 * time.Second
)

// Update implements storage.Backend.
func (b *Backend) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	var now []storage.Record
	var changed bool
	var usage totals
	query := func(batch *pgx.Batch) {
		if on.Budget != (storage.Budget{}) {
			usage.queue(batch, on.Budget.Accounts())
		}
		batch.Queue(beginUpdate)
		queueHeld(batch, on.Held, &changed)
		queueLookup(batch, on.Keys, &now)
	}
	return b.transact(ctx, query, func() ([]storage.Change, error) {
		if changed {
			return nil, storage.ErrChanged
		}
		changes, err := storage.ApplyUpdate(on.Keys, now, fn)
		if err != nil {
			return nil, err
		}
		growth := storage.GrowthOf(changes)
		if err := on.Budget.Check(&growth, usage.of); err != nil {
			return nil, err
		}
		return changes, nil
	})
}

// beginUpdate is the statement that begins the transaction of transact.
const beginUpdate = `begin isolation level serializable read write`

// transact runs one transaction. The transaction begins with beginUpdate and executes the
// statements that the function "query" adds. Then transact applies the changes that the function
// "decide" returns. After a conflict, transact calls "query" and "decide" again. If "decide" fails
// after it saw a consistent state, transact returns the same error.
func (b *Backend) transact(ctx context.Context, query func(*pgx.Batch), decide func() ([]storage.Change, error)) error {
	var refused error
	err := b.retry(ctx, func(attempt int) error {
		tokens := int64(1)
		if attempt > exclusiveAfter {
			tokens = b.conns
		}
		if err := b.writers.Acquire(ctx, tokens); err != nil {
			return err
		}
		defer b.writers.Release(tokens)
		conn, err := b.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		refused, err = try(ctx, conn.Conn(), query, decide)
		return err
	})
	if err != nil {
		return err
	}
	return refused
}

// retry calls its argument "try" until a call succeeds without a conflict, but at most maxAttempts
// times. The function converts the error of the last attempt to the error for the caller.
func (b *Backend) retry(ctx context.Context, try func(attempt int) error) error {
	for attempt := 1; ; attempt++ {
		err := try(attempt)
		if !conflicts(err) || attempt == maxAttempts {
			return b.failure(ctx, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rand.N(min(time.Millisecond<<attempt, maxBackoff))):
		}
	}
}

// try makes one attempt to run the transaction of transact. An attempt needs two round trips. After
// the call to "decide", try ignores ctx. Only a successful commit proves that "decide" saw a
// consistent state. Therefore even a transaction without changes is committed.
func try(ctx context.Context, conn *pgx.Conn, query func(*pgx.Batch), decide func() ([]storage.Change, error)) (refused, err error) {
	batch := &pgx.Batch{}
	query(batch)
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		rollback(ctx, conn)
		return nil, err
	}
	changes, refused := decide()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	batch = &pgx.Batch{}
	queueChanges(batch, changes)
	batch.Queue(`commit`)
	err = conn.SendBatch(ctx, batch).Close()
	if err == nil {
		return refused, nil
	}
	if len(changes) > 0 && !rolledBack(err) {
		return nil, fmt.Errorf("commit: %w: %w", storage.ErrUnknownOutcome, err)
	}
	rollback(ctx, conn)
	return nil, err
}

// rollback makes a connection usable again after a failed statement. If the rollback itself fails,
// the pool closes the connection.
func rollback(ctx context.Context, conn *pgx.Conn) {
	if !conn.IsClosed() {
		_, _ = conn.Exec(ctx, `rollback`)
	}
}
