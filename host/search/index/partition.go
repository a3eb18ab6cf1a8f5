package index

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/toolrun/toolrun/host/search"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/yield"
)

// partition contains the index of the entries under a prefix. A partition also contains a position
// in the backend's history of changes.
type partition struct {
	set   *Set
	key   partitionKey
	group string

	// The channel "turn" contains a token while a search updates the table. The token is in a
	// channel and not a mutex, because a search must stop waiting when its context ends. Only the
	// search that holds the token can use the following fields.
	turn chan struct{}
	// The field "at" is a position in the history: the table contains all changes up to this
	// position. Until the first read of all entries is complete, the field "at" is the position at
	// which the read began, and cursor is the last key that was read.
	at       storage.Position
	cursor   storage.Key
	complete bool

	mu sync.Mutex // guards table and its contents
	// table is nil before the first read.
	table *table

	// The fields below are guarded by set.mu.
	bytes   int64 // the part of the memory of the Set
	entries int
	users   int    // the number of searches that use the partition
	used    uint64 // the time of the last use
	evicted bool
	// committed contains the keys that Refresh has added since the last update.
	committed []storage.Key
	// Updates have consecutive numbers. begun is the number of the last update that was started,
	// and ended is the number of the last update that was completed.
	begun, ended uint64
}

// partitionKey identifies an index. The same records can have several indexes: each language has
// its own stems, each Space has its own vectors, and each Decode can return different entries.
type partitionKey struct {
	prefix   storage.Key
	language string
	space    string
	decoding string
}

// errNoIndex reports that a partition must be searched without an index.
var errNoIndex = errors.New("the partition has no index")

// changesPage is the maximum number of changes that are read together.
const changesPage = 1024

// update adds to the table all changes that were committed before update was called. Searches that
// wait while another search updates the table share the next update.
func (p *partition) update(ctx context.Context, in *reader) error {
	p.set.mu.Lock()
	wanted := p.begun + 1
	p.set.mu.Unlock()
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.turn }()
	if !p.begin(wanted) && !in.differs() {
		return nil
	}
	if err := in.read(ctx); err != nil {
		return err
	}
	p.set.mu.Lock()
	p.ended = p.begun
	p.set.mu.Unlock()
	return nil
}

// begin reports whether a search needs an update. The result is false if another search has already
// performed the wanted update.
func (p *partition) begin(wanted uint64) bool {
	p.set.mu.Lock()
	defer p.set.mu.Unlock()
	if p.ended >= wanted {
		return false
	}
	p.begun++
	return true
}

// compact removes the dead rows of the table if there are many of them. The caller must hold the
// token of the channel "turn".
func (p *partition) compact() error {
	if !p.table.wasteful() {
		return nil
	}
	made := p.table.compacted()
	p.mu.Lock()
	p.table = made
	p.mu.Unlock()
	return p.account()
}

// account reports the size of the table to the set.
func (p *partition) account() error {
	if !p.set.account(p, p.table.bytes, len(p.table.rows)) {
		return errNoIndex
	}
	return nil
}

// reader reads entries from the backend into the table of a partition. Callers of its methods must
// hold the token of the channel "turn".
type reader struct {
	*partition
	// dimension is the length of the vector of the query.
	dimension int
	language  *search.Language
	decode    Decode
	tokenizer *search.Tokenizer
	analysis  analysis // of the last text
}

// differs returns true if the table does not exist yet, or must be built again because the vector
// of the query has another number of elements.
func (in *reader) differs() bool { return in.table == nil || in.table.differs(in.dimension) }

// read brings the table up to date. If the table contains all entries, the method reads only the
// changes since the last update.
func (in *reader) read(ctx context.Context) error {
	in.tokenizer = in.language.Tokenizer()
	if in.differs() {
		if err := in.restart(ctx); err != nil {
			return err
		}
	}
	err := in.resume(ctx)
	if errors.Is(err, storage.ErrTooOld) {
		if err = in.restart(ctx); err == nil {
			err = in.resume(ctx)
		}
	}
	if err != nil {
		return err
	}
	return in.compact()
}

// restart starts to read all entries from the beginning.
func (in *reader) restart(ctx context.Context) error {
	_, at, err := in.set.backend.Read(ctx, nil, storage.Held{})
	if err != nil {
		return err
	}
	in.mu.Lock()
	in.table = newTable(in.dimension)
	in.mu.Unlock()
	in.at, in.cursor, in.complete = at, "", false
	in.set.counters.builds.Add(1)
	return in.account()
}

// resume reads the entries that an interrupted update did not read, and then all changes since the
// position of the partition.
func (in *reader) resume(ctx context.Context) error {
	if err := in.all(ctx); err != nil {
		return err
	}
	return in.changes(ctx)
}

// The method "all" reads all entries after the cursor.
func (in *reader) all(ctx context.Context) error {
	pages := pages{backend: in.set.backend, prefix: in.key.prefix, after: in.cursor}
	for !in.complete {
		records, more, err := pages.next(ctx)
		if err != nil {
			return err
		}
		if err := in.put(ctx, records); err != nil {
			return err
		}
		in.cursor, in.complete = pages.after, !more
		yield.Now()
	}
	return nil
}

// changes reads the entries that have changed since the position of the partition, and the entries
// with the keys that Set.Refresh has added.
func (in *reader) changes(ctx context.Context) error {
	in.set.mu.Lock()
	committed := in.committed
	in.committed = nil
	in.set.mu.Unlock()
	err := in.follow(ctx, committed)
	if err != nil {
		in.set.mu.Lock()
		in.committed = append(committed, in.committed...)
		in.set.mu.Unlock()
	}
	return err
}

// follow reads the entries that have changed since the position of the partition, and also the
// entries with the given keys.
func (in *reader) follow(ctx context.Context, keys []storage.Key) error {
	for {
		page, at, err := in.set.backend.Changes(ctx, in.key.prefix, in.at, changesPage)
		if err != nil {
			return err
		}
		keys = slices.Clone(keys)
		for _, c := range page {
			keys = append(keys, c.Key)
		}
		slices.Sort(keys)
		for part := range slices.Chunk(slices.Compact(keys), pageRecords) {
			if err := in.refresh(ctx, part); err != nil {
				return err
			}
		}
		in.at, keys = at, nil
		if len(page) < changesPage {
			return nil
		}
	}
}

// refresh reads the entries with the given keys again.
func (in *reader) refresh(ctx context.Context, keys []storage.Key) error {
	records, err := in.set.backend.Get(ctx, keys...)
	if err != nil {
		return err
	}
	in.mu.Lock()
	for i, r := range records {
		if !r.Exists() {
			in.table.remove(keys[i])
		}
	}
	in.mu.Unlock()
	return in.put(ctx, slices.DeleteFunc(records, func(r storage.Record) bool { return !r.Exists() }))
}

// put adds the entries of some records to the table. Only the holder of the token changes the
// table, so put analyzes the texts without holding the mutex.
func (in *reader) put(ctx context.Context, records []storage.Record) error {
	for _, r := range records {
		if err := ctx.Err(); err != nil { // each record can take milliseconds
			return cmp.Or(in.account(), err)
		}
		e, err := in.decode(r)
		if err != nil {
			return decodeError(err)
		}
		if in.table.contains(&e) {
			continue
		}
		if len(in.table.keys) == maxRows {
			in.set.reject(in.partition)
			return errNoIndex
		}
		in.analysis = in.table.words.analyze(e.Text, in.tokenizer, in.analysis)
		in.mu.Lock()
		in.table.put(&e, in.analysis)
		in.mu.Unlock()
	}
	return in.account()
}
