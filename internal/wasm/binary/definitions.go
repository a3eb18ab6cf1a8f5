package binary

// definitionParser reads tables, memories and globals, including imported ones.
type definitionParser struct {
	*moduleReader
	// tableElements is the sum of the initial sizes of all tables.
	tableElements int
	// mutableGlobals is the number of mutable globals.
	mutableGlobals int
}

func (p *definitionParser) tables() {
	n := p.count("tables", p.lim.Tables)
	for range n {
		p.m.Tables = append(p.m.Tables, p.table())
	}
}

func (p *definitionParser) table() Table {
	start := p.at
	if p.left() > 0 && p.wasm[p.at] == 0x40 {
		p.reject(Unsupported, start, "a table has an initial value (typed function references proposal); build for WebAssembly 2.0")
		return Table{}
	}
	t := Table{Element: p.refType()}
	t.Bounds = p.bounds("table")
	if p.tableElements += int(t.Bounds.Min); p.tableElements > p.lim.TableElements {
		p.reject(OverLimit, start, "the tables have %d initial elements; the limit is %d", p.tableElements, p.lim.TableElements)
	}
	if len(p.m.Tables) >= p.lim.Tables {
		p.reject(OverLimit, start, "the module has more than %d tables, including imported tables", p.lim.Tables)
	}
	return t
}

// memories reads the memory section, which may define one memory if the module imports none.
func (p *definitionParser) memories() {
	start := p.at
	n := p.u32()
	if n > 1 {
		p.reject(MultiMemory, start, "the module has %d memories; only one is supported", n)
	}
	if n == 1 {
		p.memory()
	}
}

func (p *definitionParser) memory() Bounds {
	start := p.at
	if p.m.Memory != nil {
		p.reject(MultiMemory, start, "the module has a second memory; only one is supported")
		return Bounds{}
	}
	b := p.bounds("memory")
	if p.err == nil && int64(b.Min) > int64(p.lim.MemoryPages) {
		p.reject(OverLimit, start, "the memory has %d initial pages of 64 KiB; the limit is %d", b.Min, p.lim.MemoryPages)
	}
	p.m.Memory = &b
	return b
}

func (p *definitionParser) memoryCount() int {
	if p.m.Memory == nil {
		return 0
	}
	return 1
}

// bounds reads the initial and the maximum size of a table or a memory. The WebAssembly
// specification calls these bounds limits. The proposals for threads and memory64 added flags to
// the bounds.
func (p *definitionParser) bounds(what string) Bounds {
	start := p.at
	flags := p.byte()
	switch {
	case flags&^7 != 0:
		p.reject(Malformed, start, "a %s has unknown flags %#02x", what, flags)
	case flags&4 != 0:
		p.reject(Memory64, start, "a %s has 64-bit addresses; build for wasm32", what)
	case flags&2 != 0:
		p.reject(SharedMemory, start, "a %s is shared between threads; build without -pthread and -matomics", what)
	}
	b := Bounds{Min: p.u32(), HasMax: flags&1 != 0}
	if b.HasMax {
		b.Max = p.u32()
	}
	return b
}

func (p *definitionParser) globals() {
	start := p.at
	n := p.count("globals", p.lim.Globals)
	if all := n + len(p.m.GlobalTypes); all > p.lim.Globals {
		p.reject(OverLimit, start, "the module has %d globals, including imported globals; the limit is %d", all, p.lim.Globals)
		return
	}
	p.m.Globals = make([]Global, 0, n)
	for range n {
		g := Global{GlobalType: p.globalType(), Init: p.constant()}
		if p.err != nil {
			return
		}
		p.m.Globals = append(p.m.Globals, g)
		p.m.GlobalTypes = append(p.m.GlobalTypes, g.GlobalType)
	}
}

func (p *definitionParser) globalType() GlobalType {
	t := GlobalType{Type: p.valueType()}
	start := p.at
	mutable := p.byte()
	if mutable > 1 {
		p.reject(Malformed, start, "a global has unknown flags %#02x", mutable)
	}
	if t.Mutable = mutable == 1; t.Mutable {
		p.mutableGlobals++
	}
	return t
}
