package bolt

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// benchRun writes the same records as the commit of a run. The records are a document of one of 32
// users and the ledger entry. If the argument "full" is true, benchRun also writes the session and
// the stored Result.
type benchRun struct {
	n    int
	full bool
}

func (r benchRun) records() []storage.Record {
	user := storage.Part{Tag: storage.User, Value: fmt.Sprintf("user-%02d", r.n%32)}
	group := groupOf(testKey("counts"))
	own := func(kind string) storage.Key {
		return storage.MakeKey(storage.Part{Tag: storage.System, Value: kind}) + group
	}
	run := storage.Part{Tag: storage.Item, Value: fmt.Sprintf("01jd%022d", r.n)}
	record := func(key storage.Key, size int, keep time.Duration) storage.Record {
		out := storage.Record{
			Key: key, Generation: "0123456789abcdef", Run: "run_" + run.Value, Updated: epoch(),
			Content: make([]byte, size), Tags: []string{storage.SubjectTag(user.Value)},
		}
		if keep > 0 {
			out.Expires = epoch().Add(time.Duration(r.n)*time.Millisecond + keep)
		}
		return out
	}
	records := []storage.Record{
		record(testKey("counts").With(user), 9, 0),
		record(own(storage.Ledger).With(run), 330, time.Hour),
	}
	if r.full {
		session := storage.Part{Tag: storage.Session, Value: "session-of-" + user.Value}
		// Unlike run ids, idempotency keys are not sorted by time.
		key := storage.Part{Tag: storage.Item, Value: fmt.Sprintf("key-%07d", r.n*7919%1_000_003)}
		records = append(records,
			record(own("session").With(session), 200, time.Hour),
			record(own("finished").With(user, session, key), 600, 24*time.Hour))
	}
	return records
}

func (r benchRun) commit(b *Backend) error {
	records := r.records()
	keys := make([]storage.Key, len(records))
	for i := range records {
		keys[i] = records[i].Key
	}
	return b.Update(context.Background(), storage.Keys(keys...), func(now []storage.Record) (writes []storage.Write, err error) {
		for i := range records {
			records[i].Revision = now[i].Revision + 1
			writes = append(writes, storage.Write{Record: records[i]})
		}
		return writes, nil
	})
}

// BenchmarkCommitBytes stores 4,000 runs and then measures the commits of further runs.
// BenchmarkCommitBytes reports the number of bytes and pages per commit. The numbers are the same
// on every machine with the same page size. If several runs share a commit, the runs also share the
// written pages.
func BenchmarkCommitBytes(b *testing.B) {
	for _, full := range []bool{false, true} {
		for _, together := range []int{1, 16} {
			what := "document and ledger"
			if full {
				what = "all records"
			}
			b.Run(fmt.Sprintf("%s/%d a commit", what, together), func(b *testing.B) { benchCommitBytes(b, full, together) })
		}
	}
}

func benchCommitBytes(b *testing.B, full bool, together int) {
	backend, err := Open(b.TempDir()+"/db", &Options{UnsafeNoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer backend.Close()
	backend.batchTime = time.Hour
	var written int64
	update := backend.update
	backend.update = func(fn func(tx *bbolt.Tx) error) error {
		var done *bbolt.Tx
		err := update(func(tx *bbolt.Tx) error {
			done = tx
			return fn(tx)
		})
		if stats := done.Stats(); err == nil {
			written += stats.PageAlloc + int64(backend.db.Info().PageSize) // plus a header page
		}
		return err
	}
	n := 0
	commit := func() {
		var runs []func() error
		for range together {
			run := benchRun{n, full}
			runs = append(runs, func() error { return run.commit(backend) })
			n++
		}
		if together == 1 {
			err = runs[0]()
		} else {
			err = errors.Join(gather(backend, runs...)...)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for n < 4000 {
		commit()
	}
	written, n = 0, 4000
	for b.Loop() {
		commit()
	}
	runs := float64(n - 4000)
	b.ReportMetric(float64(written)/runs, "bytes/run")
	b.ReportMetric(float64(written)/runs/float64(backend.db.Info().PageSize), "pages/run")
}
