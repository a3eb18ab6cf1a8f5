package connections

import (
	"container/list"
	"errors"
	"net"
	"net/netip"
)

// Listener returns a listener whose connections the table limits. Use the returned listener under
// TLS, because TLS handshakes must also count.
func (t *Table) Listener(l net.Listener) net.Listener { return &listener{Listener: l, table: t} }

type listener struct {
	net.Listener
	table  *Table
	closed bool // protected by the lock of the table
}

// Accept waits for a connection, and then for a free entry in the table.
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

// Close closes the listener and unblocks a waiting Accept.
func (l *listener) Close() error {
	l.table.mu.Lock()
	l.closed = true
	l.table.change.Broadcast()
	l.table.mu.Unlock()
	return l.Listener.Close()
}

// conn is a connection in a table. The lock of the table protects the fields of a conn.
type conn struct {
	net.Conn
	table *Table
	from  netip.Prefix

	known bool // one of the connection's requests was admitted
	idle  bool // the connection is waiting for the next request
	gone  bool // the connection was removed from the table

	in *list.List // the list that contains the connection, or nil
	at *list.Element
}

// Close closes the connection. Close removes the connection from the table only after the
// descriptor has been freed.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	c.table.remove(c)
	return err
}

// CloseWrite closes the writing side of the connection, if the connection supports this. The server
// calls CloseWrite before it closes a connection whose client is still sending.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// addressOf returns the address under which a connection is counted. For IPv6, the counted address
// is the 64-bit prefix, because one customer of a network usually has a whole prefix.
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
	prefix, _ := address.Prefix(bits) // Prefix can fail only for an invalid address
	return prefix
}
