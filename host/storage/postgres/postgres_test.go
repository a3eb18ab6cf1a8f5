package postgres_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/postgres"
	"github.com/toolrun/toolrun/host/storage/postgres/pgtest"
	"github.com/toolrun/toolrun/host/storage/storagetest"
)

var cluster pgtest.Cluster

// TestMain reduces the number of random histories to a quarter. A history is slow, because each
// transaction needs a round trip to another process. The command-line flag of package rapid
// overrides the reduced number.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err)
	}
	m.Run()
}

func TestBackend(t *testing.T) {
	dsn := cluster.DSN(t)
	open(t, dsn)
	conn := connect(t, dsn)
	storagetest.Run(t, func(t *testing.T) storage.Backend {
		// If each test created the tables again, the creation would take most of the test time.
		execute(t, conn, `truncate records, tags, usage, floors, changes`)
		return open(t, dsn)
	})
}

// TestClock compares the clock of the backend with the local clock. The server runs on the local
// machine.
func TestClock(t *testing.T) {
	b := open(t, cluster.DSN(t))
	before := time.Now()
	if at := storage.ClockOf(b)(); at.Sub(before).Abs() > time.Minute {
		t.Errorf("the time is %s; want about %s", at, before)
	}
}

// connect opens a connection and closes it when the test ends.
func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ctx) })
	return conn
}

func execute(t testing.TB, conn *pgx.Conn, statements string) {
	t.Helper()
	if _, err := conn.Exec(context.Background(), statements); err != nil {
		t.Fatal(err)
	}
}

// open opens a backend and closes it when the test ends.
func open(t testing.TB, dsn string) *postgres.Backend {
	t.Helper()
	b, err := postgres.Open(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// key returns the key of a store of an app. If the argument "user" is not empty, the store belongs
// to the user.
func key(user, store string) storage.Key {
	return storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.App, Value: "shop"},
		storage.Part{Tag: storage.User, Value: user}, storage.Part{Tag: storage.Store, Value: store})
}

// put writes a record whose revision is the stored revision plus 1.
func put(b storage.Backend, k storage.Key, content string) error {
	return b.Update(context.Background(), storage.Keys(k), func(now []storage.Record) ([]storage.Write, error) {
		return []storage.Write{{Record: storage.Record{Key: k, Revision: now[0].Revision + 1, Content: []byte(content)}}}, nil
	})
}

func content(t testing.TB, b storage.Backend, k storage.Key) string {
	t.Helper()
	found, err := b.Get(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	return string(found[0].Content)
}

// TestReopen checks that records still exist after the backend was closed, and that several
// backends can create the tables at the same time.
func TestReopen(t *testing.T) {
	dsn := cluster.DSN(t)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			b, err := postgres.Open(context.Background(), dsn)
			if err != nil {
				t.Error(err)
				return
			}
			defer b.Close()
			if err := put(b, key("", strconv.Itoa(i)), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	found, err := open(t, dsn).Scan(context.Background(), "", "", 10)
	if err != nil || len(found) != 6 {
		t.Errorf("Scan = %d records, %v; want 6", len(found), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	ctx := context.Background()
	dsn := cluster.DSN(t)
	open(t, dsn)
	execute(t, connect(t, dsn), `update meta set format = 3`)
	if _, err := postgres.Open(ctx, dsn); err == nil || !strings.Contains(err.Error(), "have format 3, but this version requires format 4: use an empty schema") {
		t.Errorf("Open with tables of format 3 = %v; want an error with both formats", err)
	}
	for name, refused := range map[string]string{
		"another format": dsn,
		"two schemas":    dsn + ",public",
		"no server":      "postgres:///postgres?host=/nowhere",
		"no URL":         "postgres://%",
	} {
		if b, err := postgres.Open(ctx, refused); err == nil {
			b.Close()
			t.Errorf("Open with %s succeeded", name)
		}
	}
}

// TestConflicts runs an update that conflicts in every attempt. The update must return a plain
// error and must write nothing.
func TestConflicts(t *testing.T) {
	dsn := cluster.DSN(t)
	b, other := open(t, dsn), open(t, dsn)
	k := key("", "s")
	for _, cancelled := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		calls := 0
		err := b.Update(ctx, storage.Keys(k), func(now []storage.Record) ([]storage.Write, error) {
			calls++
			if err := put(other, k, fmt.Sprint("other", calls)); err != nil {
				t.Error(err)
			}
			if cancelled {
				cancel()
			}
			return []storage.Write{{Record: storage.Record{Key: k, Revision: now[0].Revision + 1, Content: []byte("mine")}}}, nil
		})
		if err == nil || errors.Is(err, storage.ErrUnknownOutcome) || errors.Is(err, context.Canceled) != cancelled {
			t.Errorf("Update = %v after %d calls; want a plain error, of the context: %v", err, calls, cancelled)
		}
		if cancelled != (calls == 1) {
			t.Errorf("Update called the function %d times; cancelled: %v", calls, cancelled)
		}
		if got, want := content(t, b, k), fmt.Sprint("other", calls); got != want {
			t.Errorf("the content is %q; want %q", got, want)
		}
	}
}

// TestUsageOfRemovedUser removes all records of a user. The tables must then not contain the id of
// the user.
func TestUsageOfRemovedUser(t *testing.T) {
	ctx := context.Background()
	dsn := cluster.DSN(t)
	b := open(t, dsn)
	var keys []storage.Key
	for i := range 5 {
		keys = append(keys, key("ann", strconv.Itoa(i)))
		if err := put(b, keys[i], "x"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.DeleteWhere(ctx, storage.Selector{Keys: keys}, 10); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, dsn)
	// The statement makes the history older than its maximum age. Old history is deleted.
	execute(t, conn, `update changes set at = now() - interval '2 hours'`)
	if _, err := b.DeleteWhere(ctx, storage.Selector{Expired: time.Now()}, 1); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"records", "tags", "usage", "floors", "changes"} {
		n := 0
		if err := conn.QueryRow(ctx, `select count(*) from `+table+` t where position('ann' in t::text) + position(encode('ann', 'hex') in t::text) > 0`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			t.Errorf("the table %s names the user in %d rows", table, n)
		}
	}
}

// TestBudgetsDoNotConflict checks that concurrent commits of an app do not conflict. The app has a
// budget, and each commit changes the usage that is compared with the budget. Because two
// connections can use the same shard by chance, the test tries several pairs of connections.
func TestBudgetsDoNotConflict(t *testing.T) {
	dsn := cluster.DSN(t)
	var calls []int
	for range 6 {
		n := interleave(t, open(t, dsn), open(t, dsn))
		if n == 2 {
			return
		}
		calls = append(calls, n)
	}
	t.Errorf("two updates at the same time took %v calls of their functions; want 2", calls)
}

// interleave runs one update of an account during another update of the same account. interleave
// returns the total number of calls to the callbacks of the updates.
func interleave(t *testing.T, b, other *postgres.Backend) (calls int) {
	t.Helper()
	mine, others := key("ann", "mine"), key("ann", "others")
	group, _ := mine.Group()
	limit := storage.Usage{Records: 10}
	budget := storage.Budget{
		App: storage.Limit{Account: group, Max: limit}, User: storage.Limit{Account: storage.UserAccount(group, "ann"), Max: limit},
	}
	for _, b := range []*postgres.Backend{b, other} { // each backend creates its own rows of the accounts
		for _, k := range []storage.Key{mine, others} {
			if err := put(b, k, "x"); err != nil {
				t.Fatal(err)
			}
		}
	}
	grow := func(b *postgres.Backend, k storage.Key, meanwhile func()) {
		err := b.Update(context.Background(), storage.Footprint{Keys: []storage.Key{k}, Budget: budget}, func(now []storage.Record) ([]storage.Write, error) {
			calls++
			meanwhile()
			next := storage.Record{Key: k, Revision: now[0].Revision + 1, Content: append(now[0].Content, 'x')}
			return []storage.Write{{Record: next}}, nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	grow(b, mine, sync.OnceFunc(func() { grow(other, others, func() {}) }))
	return calls
}

// TestForgottenChanges deletes a part of the history. Changes must fail for a position before the
// end of the deleted part, and for a position in the future.
func TestForgottenChanges(t *testing.T) {
	ctx := context.Background()
	dsn := cluster.DSN(t)
	b := open(t, dsn)
	position := func() storage.Position {
		_, at, err := b.Read(ctx, nil, storage.Held{})
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	start := position()
	write := func() {
		if err := put(b, key("", "s"), "x"); err != nil {
			t.Fatal(err)
		}
	}
	write()
	execute(t, connect(t, dsn), `update changes set at = now() - interval '2 hours'`)
	middle := position()
	write()
	if _, err := b.DeleteWhere(ctx, storage.Selector{Expired: time.Now()}, 1); err != nil {
		t.Fatal(err)
	}
	if found, _, err := b.Changes(ctx, "", middle, 10); len(found) != 1 || err != nil {
		t.Errorf("Changes since a kept position = %v, %v; want one", found, err)
	}
	if _, _, err := b.Changes(ctx, "", start, 10); !errors.Is(err, storage.ErrTooOld) {
		t.Errorf("Changes since a forgotten position = %v; want ErrTooOld", err)
	}
	if _, _, err := b.Changes(ctx, "", storage.EndOf(position().Commit+10), 10); !errors.Is(err, storage.ErrTooOld) {
		t.Errorf("Changes since the future = %v; want ErrTooOld", err)
	}
}

// TestChangesWait checks that no change is reported while an older transaction is in progress. The
// changes of the older transaction must be reported first.
func TestChangesWait(t *testing.T) {
	ctx := context.Background()
	dsn := cluster.DSN(t)
	b := open(t, dsn)
	_, start, err := b.Read(ctx, nil, storage.Held{})
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, dsn)
	execute(t, conn, `begin; select pg_current_xact_id()`)
	if err := put(b, key("", "s"), "x"); err != nil {
		t.Fatal(err)
	}
	found, next, err := b.Changes(ctx, "", start, 10)
	if len(found) != 0 || err != nil {
		t.Errorf("Changes during an older transaction = %v, %v; want none", found, err)
	}
	execute(t, conn, `rollback`)
	if found, _, err = b.Changes(ctx, "", next, 10); len(found) != 1 || err != nil {
		t.Errorf("Changes after the older transaction = %v, %v; want one", found, err)
	}
}

// TestLongKeys checks that the longest keys and tags fit into the indexes, even if the keys and
// tags are incompressible. If two long tags differ only at the end, the tags must remain distinct.
func TestLongKeys(t *testing.T) {
	ctx := context.Background()
	b := open(t, cluster.DSN(t))
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		bytes := make([]byte, n)
		for i := range bytes {
			bytes[i] = byte(random.Uint32())
		}
		return string(bytes)
	}
	k := key(text(256), text(storage.MaxKeyBytes-len(key(text(256), "x"))))
	if len(k) != storage.MaxKeyBytes {
		t.Fatalf("the key has %d bytes", len(k))
	}
	group, _ := k.Group()
	tag := text(storage.MaxTagBytes - 1)
	if err := b.Update(ctx, storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
		return []storage.Write{{Record: storage.Record{Key: k, Revision: 1, Tags: []string{tag + "a"}}}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tag  string
		want int
	}{{tag + "b", 0}, {tag + "a", 1}} {
		if removed, err := b.DeleteWhere(ctx, storage.Selector{Group: group, Tag: c.tag}, 10); len(removed) != c.want || err != nil {
			t.Errorf("DeleteWhere removed %d, %v; want %d", len(removed), err, c.want)
		}
	}
}
