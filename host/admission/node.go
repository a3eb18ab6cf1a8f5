package admission

import "container/list"

// node is one who takes turns: the gate itself, a tenant, an app of it, or a user of that. Those below it take turns among
// themselves.
type node struct {
	name   string
	level  level
	parent *node // nil for the gate

	running  int
	waiting  int
	children map[string]*node
	turns    list.List     // of *node: children with somebody who waits, the next one first
	place    *list.Element // in the turns of the parent, nil for none
	queue    list.List     // of *waiter, of a user
}

// level is where a node stands.
type level int

const (
	all level = iota
	ofTenant
	ofApp
	ofUser
	levels
)

// waiter is a run that waits.
type waiter struct {
	of   *node // its user
	at   *list.Element
	turn chan struct{} // closed when it gets in, or has to go
	err  error         // why it has to go
}

// maxSpare is how many nodes that are not in use are kept, so that a run that comes alone allocates none.
const maxSpare = 64

// spares are nodes that are not in use.
type spares []*node

// child returns the child of n that has a name, and adds it if there is none.
func (s *spares) child(n *node, name string) *node {
	if c := n.children[name]; c != nil {
		return c
	}
	c := s.take()
	c.name, c.level, c.parent = name, n.level+1, n
	n.children[name] = c
	return c
}

// take returns a node without children.
func (s *spares) take() *node {
	last := len(*s) - 1
	if last < 0 {
		return &node{children: map[string]*node{}}
	}
	n := (*s)[last]
	*s = (*s)[:last]
	return n
}

// forget removes a node, and those above it, where nothing of them runs or waits.
func (s *spares) forget(n *node) {
	n.each(func(at *node) {
		if at.parent == nil || at.running != 0 || at.waiting != 0 {
			return
		}
		delete(at.parent.children, at.name)
		if len(*s) < maxSpare {
			*s = append(*s, at)
		}
	})
}

// each calls f for a node and those above it.
func (n *node) each(f func(*node)) {
	for at := n; at != nil; at = at.parent {
		f(at)
	}
}

// count changes how many run.
func (n *node) count(by int) { n.each(func(at *node) { at.running += by }) }

// add has a run wait.
func (n *node) add(w *waiter) {
	w.of, w.at = n, n.queue.PushBack(w)
	n.each(func(at *node) {
		at.waiting++
		if at.place == nil && at.parent != nil {
			at.place = at.parent.turns.PushBack(at)
		}
	})
}

// remove has a run wait no more. It has the next turn behind all others where that was taken.
func (w *waiter) remove(taken bool) {
	w.of.queue.Remove(w.at)
	w.of.each(func(at *node) {
		at.waiting--
		switch {
		case at.place == nil:
		case at.waiting == 0:
			at.parent.turns.Remove(at.place)
			at.place = nil
		case taken:
			at.parent.turns.MoveToBack(at.place)
		}
	})
}

// longest returns the child that has most who wait, nil where there is none.
func (n *node) longest() (most *node) {
	for at := n.turns.Front(); at != nil; at = at.Next() {
		if c := at.Value.(*node); most == nil || c.waiting > most.waiting {
			most = c
		}
	}
	return most
}
