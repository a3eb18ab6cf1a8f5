package postgres_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
)

// wire is a proxy between a backend and the PostgreSQL server. The proxy counts the traffic and can
// drop requests and replies.
type wire struct {
	dsn string

	mu          sync.Mutex
	loseRequest bool // if true, wire closes the connection instead of forwarding a request
	loseReply   bool // if true, wire closes the connection instead of forwarding a reply
	received    int  // total bytes of replies
	roundTrips  int
	replied     bool
}

const socket = ".s.PGSQL.5432"

// newWire returns a proxy in front of the server of dsn.
func newWire(t *testing.T, dsn string) *wire {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "wire") // the path of a Unix socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	query := u.Query()
	server := filepath.Join(query.Get("host"), socket)
	query.Set("host", folder)
	query.Set("pool_max_conns", "2")
	u.RawQuery = query.Encode()
	listener, err := net.Listen("unix", filepath.Join(folder, socket))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	w := &wire{dsn: u.String(), replied: true}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go w.serve(client, server)
		}
	}()
	return w
}

func (w *wire) serve(client net.Conn, address string) {
	server, err := net.Dial("unix", address)
	if err != nil {
		client.Close()
		return
	}
	go pass(server, client, w.request)
	pass(client, server, w.reply)
}

// pass copies data from one connection to the other. When one side closes its connection or the
// function "allow" returns false, the method closes both connections.
func pass(to, from net.Conn, allow func(n int) bool) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !allow(n) {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (w *wire) request(int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.replied {
		w.roundTrips++
		w.replied = false
	}
	return !w.loseRequest
}

func (w *wire) reply(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.replied = true
	w.received += n
	return !w.loseReply
}

// set changes fields while it holds the mutex.
func (w *wire) set(change func(w *wire)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

// TestLostConnection loses the request of a commit, or the reply of the server. If the update has
// writes, the outcome of the commit must be unknown.
func TestLostConnection(t *testing.T) {
	for _, test := range []struct {
		name    string
		lose    func(w *wire)
		cancel  bool // the function passed to Update cancels the context
		refuse  bool // the function passed to Update returns no writes
		unknown bool
		want    string
	}{
		{"reply", func(w *wire) { w.loseReply = true }, false, false, true, "new"},
		{"reply of a cancelled update", func(w *wire) { w.loseReply = true }, true, false, true, "new"},
		{"request", func(w *wire) { w.loseRequest = true }, false, false, true, "old"},
		{"reply without writes", func(w *wire) { w.loseReply = true }, false, true, false, "old"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dsn := cluster.DSN(t)
			w := newWire(t, dsn)
			b, direct := open(t, w.dsn), open(t, dsn)
			k := key("", "s")
			if err := put(b, k, "old"); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			err := b.Update(ctx, storage.Keys(k), func(now []storage.Record) ([]storage.Write, error) {
				w.set(test.lose)
				if test.cancel {
					cancel()
				}
				if test.refuse {
					return nil, nil
				}
				return []storage.Write{{Record: storage.Record{Key: k, Revision: now[0].Revision + 1, Content: []byte("new")}}}, nil
			})
			if err == nil || errors.Is(err, storage.ErrUnknownOutcome) != test.unknown {
				t.Errorf("Update = %v; want an error, of an unknown outcome: %v", err, test.unknown)
			}
			if got := content(t, direct, k); got != test.want {
				t.Errorf("the content is %q; want %q", got, test.want)
			}
			w.set(func(w *wire) { w.loseReply, w.loseRequest = false, false })
			if err := put(b, k, "after"); err != nil {
				t.Errorf("Update on a new connection = %v", err)
			}
		})
	}
}

// ignore returns err unless err is an expected error.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// TestRoundTrips checks that a read needs one round trip, and that an update needs two round trips.
func TestRoundTrips(t *testing.T) {
	ctx := context.Background()
	w := newWire(t, cluster.DSN(t))
	b := open(t, w.dsn)
	k := key("ann", "s")
	group, _ := k.Group()
	budget := storage.Budget{
		App: storage.Limit{Account: group, Max: storage.Usage{Records: 9}}, User: storage.Limit{Account: storage.UserAccount(group, "ann"), Max: storage.Usage{Records: 9}},
	}
	keys := []storage.Key{k, storage.FloorKey(k)}
	for _, test := range []struct {
		name string
		want int
		do   func() error
	}{
		{"Get", 1, func() error { _, err := b.Get(ctx, keys...); return err }},
		{"Scan", 1, func() error { _, err := b.Scan(ctx, "", "", 10); return err }},
		{"Heads", 1, func() error { _, err := b.Heads(ctx, "", "", 10); return err }},
		{"Read", 1, func() error {
			_, _, err := b.Read(ctx, keys, storage.Held{Versions: []storage.Version{{Key: key("ann", "none")}}, Ranges: []storage.Range{{Prefix: key("bob", "")}}})
			return err
		}},
		{"Changes", 1, func() error {
			_, _, err := b.Changes(ctx, "", storage.EndOf(1<<62), 10)
			return ignore(err, storage.ErrTooOld)
		}},
		{"Usage", 1, func() error { _, err := b.Usage(ctx, budget.Accounts()...); return err }},
		{"Ping", 1, func() error { return b.Ping(ctx) }},
		{"Update", 2, func() error { return put(b, k, "x") }},
		{"Update within a budget", 2, func() error {
			return b.Update(ctx, storage.Footprint{Keys: keys[:1], Budget: budget}, func(now []storage.Record) ([]storage.Write, error) {
				return []storage.Write{{Record: storage.Record{Key: k, Revision: now[0].Revision + 1, Content: append(now[0].Content, 'x')}}}, nil
			})
		}},
	} {
		if err := test.do(); err != nil { // prepares the statements
			t.Fatal(err)
		}
		w.set(func(w *wire) { w.roundTrips = 0 })
		if err := test.do(); err != nil {
			t.Fatal(err)
		}
		w.set(func(w *wire) {
			if w.roundTrips != test.want {
				t.Errorf("%s takes %d round trips; want %d", test.name, w.roundTrips, test.want)
			}
		})
	}
}

// TestRemovalsReadNoContents checks that contents are not transferred when records are removed or
// listed.
func TestRemovalsReadNoContents(t *testing.T) {
	ctx := context.Background()
	w := newWire(t, cluster.DSN(t))
	b := open(t, w.dsn)
	const size = 1 << 20
	for _, store := range []string{"a", "b", "c", "d", "e", "f"} {
		if err := put(b, key("", store), strings.Repeat("x", size)); err != nil {
			t.Fatal(err)
		}
	}
	w.set(func(w *wire) { w.received = 0 })
	heads, err := b.Heads(ctx, "", "", 10)
	if err != nil || len(heads) != 6 || heads[0].ContentBytes != size {
		t.Fatalf("Heads = %v, %v", heads, err)
	}
	if removed, err := b.DeleteWhere(ctx, storage.Selector{Prefix: key("", "")}, 10); err != nil || len(removed) != 6 {
		t.Fatalf("DeleteWhere = %v, %v", removed, err)
	}
	w.set(func(w *wire) {
		if w.received > size/10 {
			t.Errorf("%d bytes were received", w.received)
		}
	})
}
