package connections

import (
	"container/list"
	"errors"
	"net"
	"net/netip"
)

// Listener returns a listener whose connections the table bounds. TLS goes above it, so that handshakes count.
func (t *Table) Listener(l net.Listener) net.Listener { return &listener{Listener: l, table: t} }

type listener struct {
	net.Listener
	table  *Table
	closed bool // under the lock of the table
}

// Accept waits for a connection, and then for a place for it.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if one := l.table.add(l, c); one != nil {
		return one, nil
	}
	return nil, errors.Join(net.ErrClosed, c.Close())
}

// Close ends Accept, too.
func (l *listener) Close() error {
	l.table.mu.Lock()
	l.closed = true
	l.table.change.Broadcast()
	l.table.mu.Unlock()
	return l.Listener.Close()
}

// conn is a connection in a table, whose lock the fields are under.
type conn struct {
	net.Conn
	table *Table
	from  netip.Prefix

	known bool // a request of it was admitted
	idle  bool // it waits for the next request
	gone  bool // it is not in the table any more

	in *list.List // the list that it is in, nil for none
	at *list.Element
}

// Close leaves the table once the descriptor is free.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	c.table.remove(c)
	return err
}

// CloseWrite is what a server calls before it closes a connection whose client still sends.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// addressOf returns whom a connection is counted by: an address, of IPv6 the 64 bits that one customer of a network has.
func addressOf(c net.Conn) netip.Prefix {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	address := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := address.BitLen()
	if address.Is6() {
		bits = 64
	}
	prefix, _ := address.Prefix(bits) // fails only for an address that is none
	return prefix
}
