package admission

import "container/list"

// node is a participant in a round-robin schedule. A node is the gate itself, a tenant, an app of a
// tenant, or a user of an app. The children of a node take turns.
type node struct {
	name   string
	level  level
	parent *node // nil for the gate

	running  int
	parked   int
	waiting  int
	children map[string]*node
	turns    list.List     // list of *node: children with waiting runs, in the order of their turns
	place    *list.Element // the element in the parent's turns; nil if no run of the node waits
	queue    list.List     // list of *waiter; empty unless the node is a user
}

// level is the depth of a node.
type level int

const (
	all level = iota
	ofTenant
	ofApp
	ofUser
	levels
)

// waiter is a waiting run.
type waiter struct {
	of      *node // the node of the user
	at      *list.Element
	decided chan struct{} // closed when the run is admitted or rejected
	err     error         // the error of a rejected run
	// resumed is true if the run was parked. A resumed run waits ahead of its user's new runs. No
	// other run can replace a resumed run.
	resumed bool
}

// maxSpare is the maximum number of unused nodes that are kept for later runs. A run at an idle
// gate uses such a node, so that it does not allocate a new one.
const maxSpare = 64

// spares are unused nodes.
type spares []*node

// child returns the child of n that has the given name. If the child does not exist, child creates
// it.
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

// forget removes a node if the node has no active, waiting or parked runs. It also removes each
// ancestor that has no such runs.
func (s *spares) forget(n *node) {
	n.each(func(at *node) {
		if at.parent == nil || at.running != 0 || at.waiting != 0 || at.parked != 0 {
			return
		}
		delete(at.parent.children, at.name)
		if len(*s) < maxSpare {
			*s = append(*s, at)
		}
	})
}

// The method "each" calls f for the node and for each of its ancestors.
func (n *node) each(f func(*node)) {
	for at := n; at != nil; at = at.parent {
		f(at)
	}
}

// count changes the number of active runs of the node and its ancestors.
func (n *node) count(by int) { n.each(func(at *node) { at.running += by }) }

// park changes the number of parked runs of the node and its ancestors.
func (n *node) park(by int) { n.each(func(at *node) { at.parked += by }) }

// enqueue adds a run to the queue of a user. enqueue adds a resumed run after the other resumed
// runs, and a new run at the end.
func (n *node) enqueue(w *waiter) *list.Element {
	if !w.resumed {
		return n.queue.PushBack(w)
	}
	for at := n.queue.Front(); at != nil; at = at.Next() {
		if !at.Value.(*waiter).resumed {
			return n.queue.InsertBefore(w, at)
		}
	}
	return n.queue.PushBack(w)
}

// add adds a waiting run.
func (n *node) add(w *waiter) {
	w.of, w.at = n, n.enqueue(w)
	n.each(func(at *node) {
		at.waiting++
		if at.place == nil && at.parent != nil {
			at.place = at.parent.turns.PushBack(at)
		}
	})
}

// remove removes a waiting run. If the run was admitted, all other users get a turn before the user
// of this run gets another turn.
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

// longest returns the child with the most waiting runs. If no child has a waiting run, longest
// returns nil.
func (n *node) longest() (longest *node) {
	for at := n.turns.Front(); at != nil; at = at.Next() {
		if c := at.Value.(*node); longest == nil || c.waiting > longest.waiting {
			longest = c
		}
	}
	return longest
}
