package connections

import "net"

// add adds a new connection. If the table or its part for strangers is full, add closes another
// connection. If no connection can be closed, add waits, and further clients wait in the accept
// queue of the system. If the listener is closed during the wait, add returns nil.
func (t *Table) add(l *listener, c net.Conn) *conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !l.closed && t.open >= t.limits.Connections && t.strangers.Len()+t.idle.Len() == 0 {
		t.change.Wait()
	}
	switch {
	case l.closed:
		return nil
	case t.strangers.Len() >= t.limits.Strangers:
		t.evict(t.stranger())
	case t.open < t.limits.Connections:
	case t.idle.Len() > 0:
		t.evict(t.idle.Front().Value.(*conn))
	default:
		t.evict(t.stranger())
	}
	one := &conn{Conn: c, table: t, from: addressOf(c)}
	t.open++
	t.list(one)
	return one
}

// stranger returns the stranger to close, which is the longest inactive stranger of the address
// with the most strangers. Behind a proxy, all strangers have the same address. The caller must
// hold mu, and there must be a stranger.
func (t *Table) stranger() *conn {
	var found *conn
	for at := t.strangers.Front(); at != nil; at = at.Next() {
		one := at.Value.(*conn)
		if found == nil || t.from[one.from] > t.from[found.from] {
			found = one
		}
	}
	return found
}

// evict closes a connection to free an entry of the table. Closing a socket does not block. The
// caller must hold mu.
func (t *Table) evict(one *conn) {
	t.closed++
	t.remove(one)
	_ = one.Conn.Close() // the server detects the closed connection at its next read
}

// remove removes a connection from the table. The caller must hold mu.
func (t *Table) remove(one *conn) {
	if one.gone {
		return
	}
	t.unlist(one)
	one.gone = true
	t.open--
	t.change.Broadcast()
}
