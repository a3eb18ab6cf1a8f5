package stackguard

import "github.com/toolrun/toolrun/internal/wasm/binary"

// Slack is the number of bytes below the limit to which unchecked functions may write. The limit
// must be at least Slack bytes above the lowest address of the stack.
const Slack = maxUncheckedBytes + maxClosedBytes + redZone

const (
	// maxUncheckedBytes is the maximum stack size that functions use between two checks.
	maxUncheckedBytes = 64 << 10
	// maxClosedBytes is the maximum stack size of a closed function together with all its callees.
	// A closed function needs no check, even if the function is called indirectly.
	maxClosedBytes = 16 << 10
	// redZone is the size of the area below the stack pointer that leaf functions may use without
	// moving the stack pointer.
	redZone = 128
)

// plan determines which functions of a module are checked. Between two checks, there are only
// direct calls without cycles, so these calls can use only a limited amount of stack. Package
// stackguard adds a check to four kinds of functions: functions that may be called indirectly or by
// the host, functions that close a cycle of direct calls, functions that may move the stack pointer
// by any distance, and functions that would use too much stack together with their callees. A
// closed function needs no check, because all functions reachable from it are known and together
// use little stack.
type plan struct {
	functions []function
}

// function is the analysis of a function of a module.
type function struct {
	// own is the number of stack bytes that the function itself uses. moves reports whether the
	// function moves the stack pointer.
	own   int
	moves bool
	calls []int // the functions that this function calls directly
	// open reports whether the function or one of its callees needs a check. A function is open if
	// it may call unknown functions, if it may call itself, or if it uses too much stack.
	open bool
	// checked is true if the function is checked. required is set by requireCheck.
	checked, required bool
	// below is the number of stack bytes that the function and its callees use until the next
	// check. The method "visit" computes below.
	below             int
	analyzed, visited progress
}

type progress byte

const (
	notStarted progress = iota
	running
	done
)

// planOf analyzes the functions of a module.
func planOf(m *binary.Module, pointer uint32) *plan {
	p := &plan{functions: make([]function, len(m.Functions))}
	imported := m.ImportedFuncs()
	var referenced []int // functions that may be called indirectly or by the host
	for _, r := range m.References {
		referenced = append(referenced, int(r.Index)-imported)
	}
	for i := range m.Functions {
		referenced = append(referenced, p.read(i, m.Functions[i].Code, pointer, imported)...)
	}
	for i := range p.functions {
		p.analyze(i)
	}
	for _, i := range referenced {
		if i >= 0 {
			p.requireCheck(i)
		}
	}
	for i := range p.functions {
		p.visit(i)
	}
	return p
}

// read analyzes the code of a function. read returns the functions that the code references with
// ref.func.
func (p *plan) read(i int, code []byte, pointer uint32, imported int) (referenced []int) {
	f := &p.functions[i]
	for move := range moves(code, pointer) {
		f.moves = true
		f.own += move.by
		f.checked = f.checked || !move.known || move.looped || f.own > maxUncheckedBytes
	}
	f.open = f.checked
	for in := range binary.Instructions(code) {
		switch called := int(in.Index) - imported; {
		case in.Op == binary.CallIndirect, in.Op == binary.Call && called < 0:
			f.open = true // the imported function may call back into the module
		case in.Op == binary.Call:
			f.calls = append(f.calls, called)
		case in.Op == binary.RefFunc:
			referenced = append(referenced, called)
		}
	}
	return referenced
}

// analyze determines whether a function is closed. If the function is closed, analyze also computes
// its stack size.
func (p *plan) analyze(i int) {
	f := &p.functions[i]
	if f.analyzed != notStarted {
		f.open = f.open || f.analyzed == running // it calls itself
		return
	}
	f.analyzed = running
	for _, called := range f.calls {
		p.analyze(called)
		g := &p.functions[called]
		f.open = f.open || g.open
		f.below = max(f.below, g.below)
	}
	f.below += f.own
	f.open = f.open || f.below > maxClosedBytes
	f.analyzed = done
}

// requireCheck marks a function as checked. If the function itself uses no stack, requireCheck
// marks the callees instead.
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

// visit computes the stack size that a function and its callees use until the next check.
func (p *plan) visit(i int) {
	f := &p.functions[i]
	if f.visited != notStarted || !f.open {
		return
	}
	f.visited, f.below = running, 0
	for _, called := range f.calls {
		p.visit(called)
		g := &p.functions[called]
		if g.visited == running { // a cycle
			p.requireCheck(called)
		} else if !g.checked {
			f.below = max(f.below, g.below)
		}
	}
	f.below += f.own
	f.checked = f.checked || f.moves && f.below > maxUncheckedBytes
	f.visited = done
}
