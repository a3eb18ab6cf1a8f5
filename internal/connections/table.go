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

// Limits contains the limits of a server's connections.
type Limits struct {
	// Connections is the maximum number of connections. Default: 1,024; minimum: 4.
	Connections int
	// Strangers is the maximum number of connections of strangers. The default of Strangers is half
	// of Connections, but not more than 1,024. A Strangers value above the default has no effect.
	Strangers int
}

const (
	defaultConnections = 1024
	maxStrangers       = 1024
	minConnections     = 4
)

func (l Limits) withDefaults() Limits {
	l.Connections = max(cmp.Or(l.Connections, defaultConnections), minConnections)
	l.Strangers = min(cmp.Or(l.Strangers, maxStrangers), l.Connections/2)
	l.Strangers = min(max(l.Strangers, 1), maxStrangers)
	return l
}

// Counts contains the current numbers of connections.
type Counts struct {
	// Open is the number of all connections, including Strangers and Idle.
	Open, Strangers, Idle int
	// Closed is the number of connections that the table has closed to admit other connections.
	Closed int64
}

// Table contains the connections of a server. Table is safe for concurrent use.
type Table struct {
	limits Limits

	mu     sync.Mutex
	change sync.Cond // signals that an entry is free or the listener is closed
	open   int
	closed int64
	// strangers and idle contain *conn values, starting with the connection that has been inactive
	// for the longest time.
	strangers, idle list.List
	// The field "from" maps each address to its number of strangers.
	from map[netip.Prefix]int
}

// New returns an empty table.
func New(limits Limits) *Table {
	t := &Table{limits: limits.withDefaults(), from: map[netip.Prefix]int{}}
	t.change.L = &t.mu
	return t
}

// Limits returns the effective limits.
func (t *Table) Limits() Limits { return t.limits }

// Counts returns the current numbers of connections.
func (t *Table) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Counts{Open: t.open, Strangers: t.strangers.Len(), Idle: t.idle.Len(), Closed: t.closed}
}

// Watch makes the table track the connections of a server, which must serve a Listener of the
// table. Watch sets ConnState and ConnContext of the server.
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

// connKey is the context key for the connection of a request.
type connKey struct{}

// Admit records that a request was admitted: its connection is no longer a stranger. The argument
// "ctx" is the context of the request. If ctx belongs to another server, Admit does nothing.
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

// connOf returns the table's entry for a server's connection, which can be wrapped by TLS. If the
// connection is not in a table, connOf returns nil.
func connOf(c net.Conn) *conn {
	if secured, ok := c.(*tls.Conn); ok {
		c = secured.NetConn()
	}
	one, _ := c.(*conn)
	return one
}

// enter records the state of a connection. In StateNew, the request headers are incomplete. In
// StateActive, the request headers are complete.
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

// list adds a connection to the list of connections that may be closed. The caller must hold mu.
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

// unlist removes a connection from the list of connections that may be closed. The caller must hold
// mu.
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
