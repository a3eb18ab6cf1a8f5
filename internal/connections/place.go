package connections

import "net"

// add takes a newcomer in, for which it closes another connection if there is no place. If none can be closed it waits, and
// further clients wait in the queue of the system. It returns nil if the listener is closed meanwhile.
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

// stranger returns the one to close: of the address that has most, that which did nothing for the longest time. Behind a
// proxy all have one address. The caller holds mu, and there is a stranger.
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

// evict closes a connection to make room. What closes a socket does not wait. The caller holds mu.
func (t *Table) evict(one *conn) {
	t.closed++
	t.remove(one)
	_ = one.Conn.Close() // the server learns of it by its next read
}

// remove forgets a connection. The caller holds mu.
func (t *Table) remove(one *conn) {
	if one.gone {
		return
	}
	t.unlist(one)
	one.gone = true
	t.open--
	t.change.Broadcast()
}
