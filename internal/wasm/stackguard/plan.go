package stackguard

import "github.com/toolrun/toolrun/internal/wasm/binary"

// Slack is how far below the limit functions may write that are not checked, in bytes. The limit is to be so much above
// the lowest address of the stack.
const Slack = maxUnchecked + maxClosed + redZone

const (
	// maxUnchecked is how many bytes of stack may be taken from one check to the next.
	maxUnchecked = 64 << 10
	// maxClosed is how many a function may take, with all that it calls, to need no check even if it is called indirectly.
	maxClosed = 16 << 10
	// redZone is how far below the stack pointer compilers let a function that calls nothing write without moving it.
	redZone = 128
)

// plan says which functions of a module are checked. Between two checks there are only direct calls, none of which leads
// back, so that what they take is bounded: each function is checked that may be called indirectly or by the host, each
// that closes a circle of direct calls, and each behind which too much would be taken. A closed function is none of these:
// all that it leads to is known, and takes little.
type plan struct {
	functions []function
}

// function is what is known about one function of a module.
type function struct {
	// own is how many bytes it takes itself, and moves whether it takes any.
	own   int
	moves bool
	calls []int
	// open is true if it calls what is not known, itself, or what does, or if it takes much.
	open bool
	// checked is true if the function is checked, and required once requireCheck was there.
	checked, required bool
	// below is how many bytes it takes before the next check, itself included, once it was visited.
	below            int
	closing, visited progress
}

type progress byte

const (
	notYet progress = iota
	begun
	done
)

// planOf looks through the functions of a module.
func planOf(m *binary.Module, pointer uint32) *plan {
	p := &plan{functions: make([]function, len(m.Functions))}
	imported := m.ImportedFuncs()
	var named []int // functions that may be called indirectly, or by the host
	for _, r := range m.References {
		named = append(named, int(r.Index)-imported)
	}
	for i := range m.Functions {
		named = append(named, p.read(i, m.Functions[i].Code, pointer, imported)...)
	}
	for i := range p.functions {
		p.close(i)
	}
	for _, i := range named {
		if i >= 0 {
			p.requireCheck(i)
		}
	}
	for i := range p.functions {
		p.visit(i)
	}
	return p
}

// read looks through a function, and returns those of which it takes a reference.
func (p *plan) read(i int, code []byte, pointer uint32, imported int) (named []int) {
	f := &p.functions[i]
	for move := range moves(code, pointer) {
		f.moves = true
		f.own += move.by
		f.checked = f.checked || !move.known || move.looped || f.own > maxUnchecked
	}
	f.open = f.checked
	for in := range binary.Instructions(code) {
		switch called := int(in.Index) - imported; {
		case in.Op == binary.CallIndirect, in.Op == binary.Call && called < 0:
			f.open = true // the host may call the module again
		case in.Op == binary.Call:
			f.calls = append(f.calls, called)
		case in.Op == binary.RefFunc:
			named = append(named, called)
		}
	}
	return named
}

// close finds out whether a function is closed, and how much it takes then.
func (p *plan) close(i int) {
	f := &p.functions[i]
	if f.closing != notYet {
		f.open = f.open || f.closing == begun // it calls itself
		return
	}
	f.closing = begun
	for _, called := range f.calls {
		p.close(called)
		g := &p.functions[called]
		f.open = f.open || g.open
		f.below = max(f.below, g.below)
	}
	f.below += f.own
	f.open = f.open || f.below > maxClosed
	f.closing = done
}

// requireCheck has a function checked, or what it calls if it takes nothing itself.
func (p *plan) requireCheck(i int) {
	f := &p.functions[i]
	if f.required || !f.open {
		return
	}
	f.required = true
	if f.moves {
		f.checked = true
		return
	}
	for _, called := range f.calls {
		p.requireCheck(called)
	}
}

// visit computes how much a function takes before the next check.
func (p *plan) visit(i int) {
	f := &p.functions[i]
	if f.visited != notYet || !f.open {
		return
	}
	f.visited, f.below = begun, 0
	for _, called := range f.calls {
		p.visit(called)
		g := &p.functions[called]
		if g.visited == begun { // a circle
			p.requireCheck(called)
		} else if !g.checked {
			f.below = max(f.below, g.below)
		}
	}
	f.below += f.own
	f.checked = f.checked || f.moves && f.below > maxUnchecked
	f.visited = done
}
