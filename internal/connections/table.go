package connections

import (
	"cmp"
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Limits bound the connections of a server.
type Limits struct {
	// Connections is how many there are at a time. Default 1,024, least 4.
	Connections int
	// Strangers is how many of them may be strangers. Default a half of Connections, at most 1,024, which is also the
	// most.
	Strangers int
}

const (
	defaultConnections = 1024
	maxStrangers       = 1024
	leastConnections   = 4
)

func (l Limits) withDefaults() Limits {
	l.Connections = max(cmp.Or(l.Connections, defaultConnections), leastConnections)
	l.Strangers = min(cmp.Or(l.Strangers, maxStrangers), l.Connections/2)
	l.Strangers = min(max(l.Strangers, 1), maxStrangers)
	return l
}

// Counts are the numbers of connections at a time.
type Counts struct {
	// Open is the number of all connections, Strangers and Idle are parts of it.
	Open, Strangers, Idle int
	// Closed is how many were closed since the beginning to make room for others.
	Closed int64
}

// Table has the connections of a server. It is safe for concurrent use.
type Table struct {
	limits Limits

	mu     sync.Mutex
	change sync.Cond // there may be a place where there was none, or a listener was closed
	open   int
	closed int64
	// strangers and idle hold *conn, the one first that did nothing for the longest time.
	strangers, idle list.List
	// from counts the strangers of each address.
	from map[netip.Prefix]int
}

// New makes a table without connections.
func New(limits Limits) *Table {
	t := &Table{limits: limits.withDefaults(), from: map[netip.Prefix]int{}}
	t.change.L = &t.mu
	return t
}

// Limits returns the limits, defaults included.
func (t *Table) Limits() Limits { return t.limits }

// Counts returns how many connections there are.
func (t *Table) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Counts{Open: t.open, Strangers: t.strangers.Len(), Idle: t.idle.Len(), Closed: t.closed}
}

// Watch has the table follow the connections of a server, which is to serve a Listener of the table. It sets ConnState
// and ConnContext.
func (t *Table) Watch(server *http.Server) {
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if one := connOf(c); one != nil {
			t.enter(one, state)
		}
	}
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, connOf(c))
	}
}

// connKey is where the context of a request has its connection.
type connKey struct{}

// Admit notes that a request was admitted: its connection is no stranger's from now on. The context is the request's;
// that of another server is ignored.
func Admit(ctx context.Context) {
	one, _ := ctx.Value(connKey{}).(*conn)
	if one == nil {
		return
	}
	t := one.table
	t.mu.Lock()
	defer t.mu.Unlock()
	if !one.gone && !one.known {
		t.unlist(one)
		one.known = true
		t.list(one)
	}
}

// connOf returns the connection of the table below one of the server's, nil if there is none.
func connOf(c net.Conn) *conn {
	if secured, ok := c.(*tls.Conn); ok {
		c = secured.NetConn()
	}
	one, _ := c.(*conn)
	return one
}

// enter notes the state of a connection. In StateNew its headers are not complete, in StateActive they are.
func (t *Table) enter(one *conn, state http.ConnState) {
	if state != http.StateActive && state != http.StateIdle {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if one.gone {
		return
	}
	t.unlist(one)
	one.idle = state == http.StateIdle
	t.list(one)
}

// list puts a connection where it can be found to make room. The caller holds mu.
func (t *Table) list(one *conn) {
	switch {
	case !one.known:
		one.in, one.at = &t.strangers, t.strangers.PushBack(one)
		t.from[one.from]++
	case one.idle:
		one.in, one.at = &t.idle, t.idle.PushBack(one)
	default:
		return
	}
	t.change.Broadcast()
}

// unlist undoes list. The caller holds mu.
func (t *Table) unlist(one *conn) {
	if one.in == nil {
		return
	}
	one.in.Remove(one.at)
	one.in = nil
	if !one.known {
		if t.from[one.from]--; t.from[one.from] == 0 {
			delete(t.from, one.from)
		}
	}
}
