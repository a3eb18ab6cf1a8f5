package bolt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// The limits of one commit. The limits of a commit bound the waiting time of its first request and
// the memory for its pages.
const (
	maxBatch      = 1024
	maxBatchBytes = 4 << 20
	maxBatchTime  = 20 * time.Millisecond // the maximum time for executing requests
)

// errNothing makes bbolt roll back a transaction that wrote nothing, because a commit would wait
// for the disk.
var errNothing = errors.New("nothing was written")

// Update implements storage.Backend.
func (b *Backend) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	return b.submit(ctx, senderOf(on.Keys), func(t *transaction) error {
		if err := t.check(on.Held); err != nil {
			return err
		}
		now, err := t.get(on.Keys)
		if err != nil {
			return err
		}
		changes, err := storage.ApplyUpdate(on.Keys, now, fn)
		if err != nil {
			return err
		}
		return t.apply(changes, on.Budget)
	})
}

// senderOf returns the sender of a request that uses the given keys. The key of the sender is the
// first of the given keys that contains a tenant.
func senderOf(keys []storage.Key) sender {
	for _, k := range keys {
		if tenant := k.Tenant(); tenant != "" {
			return sender{tenant, k}
		}
	}
	return sender{}
}

// submit executes the function "do" in a commit. Tenants take turns, so submit waits for the
// tenant's turn. If ctx ends before the call to "do", submit stops waiting.
//
// No separate goroutine commits. If no commit is in progress, the caller of submit commits its own
// request, so a single update does not wait. Callers that arrive during a commit wait and share the
// next commits.
func (b *Backend) submit(ctx context.Context, from sender, do func(t *transaction) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{do: do, from: from, done: make(chan struct{})}
	lead, err := b.queue.add(r)
	if err != nil {
		return err
	}
	if lead && b.commitNext() { // do not make the caller wait for later requests
		go func() {
			for b.commitNext() {
			}
		}()
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		if r.abandon() {
			return ctx.Err()
		}
		<-r.done
	}
	return r.err
}

// commitNext executes one commit and reports whether more requests are waiting.
func (b *Backend) commitNext() (more bool) {
	return b.queue.done(b.commit(b.queue.next()))
}

// commit executes as many requests of batch as fit in one transaction, and reports the result of
// each request to the caller of the request. The result of commit is the number of executed
// requests. If one request makes the whole transaction fail, commit executes each request in a
// separate transaction.
func (b *Backend) commit(batch []*request) int {
	n, spoiled, err := b.try(batch)
	if spoiled && len(batch) > 1 {
		for _, r := range batch {
			b.commit([]*request{r})
		}
		return len(batch)
	}
	for _, r := range batch[:n] {
		if !r.begin() {
			continue
		}
		if err != nil {
			r.err = err
		}
		close(r.done)
	}
	return n
}

// stage is a step in the life of a transaction.
type stage int

const (
	beginning stage = iota
	writing
	committing
	returned
)

// try executes the first n requests of batch in one transaction. The result "spoiled" is true if
// the transaction was rolled back before its commit because of request n. If "spoiled" is true, err
// is the error of request n.
func (b *Backend) try(batch []*request) (n int, spoiled bool, err error) {
	if b.broken.Load() {
		return len(batch), false, errBroken
	}
	at, id := beginning, 0
	var t *transaction
	err = guard(func() error {
		err := b.update(func(tx *bbolt.Tx) error {
			at, id = writing, tx.ID()
			// The call to guard converts a panic to an error, so that bbolt rolls the transaction
			// back and releases the locks.
			err := guard(func() (err error) {
				defer b.stats.worked(time.Now())
				t = newTransaction(tx, b.history, &b.deferred)
				n, err = t.run(batch, b.batchTime)
				return err
			})
			if err == nil {
				at = committing
			}
			return err
		})
		if at == committing {
			at = returned
		}
		return err
	})
	switch {
	case err == nil:
		b.deferred.committed(t)
		return n, false, nil
	case errors.Is(err, errNothing):
		return n, false, nil
	case at == writing:
		return max(n, 1), true, err
	case at == beginning:
		b.broken.Store(true)
		return len(batch), false, err
	case at == committing:
		b.broken.Store(true) // bbolt has panicked while it held its locks
	}
	return n, false, b.outcome(id, err)
}

// outcome returns the error of a failed commit. If the database contains the changes of the failed
// commit, the outcome is unknown, because the bytes may not have reached the disk.
func (b *Backend) outcome(id int, err error) error {
	err = full(err)
	current := 0
	readErr := b.read(func(tx *bbolt.Tx) error {
		current = tx.ID()
		return nil
	})
	if readErr == nil && current < id {
		b.history.Discard(uint64(id))
		return fmt.Errorf("commit: %w", err)
	}
	return fmt.Errorf("commit: %w: %w", storage.ErrUnknownOutcome, err)
}
