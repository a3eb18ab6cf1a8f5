package binary

// What a module keeps: tables, memory, globals and the segments that fill them.

func (p *parser) tables() {
	n := p.count("tables", p.lim.Tables)
	for range n {
		p.m.Tables = append(p.m.Tables, p.table())
	}
}

func (p *parser) table() Table {
	start := p.at
	if p.left() > 0 && p.wasm[p.at] == 0x40 {
		p.refuse(Unsupported, start, "a table with an initial value, of the typed function references proposal; build for WebAssembly 2.0")
		return Table{}
	}
	t := Table{Element: p.refType()}
	t.Bounds = p.bounds("table")
	if p.tableElements += int(t.Bounds.Min); p.tableElements > p.lim.TableElements {
		p.refuse(OverLimit, start, "tables of %d elements at the start; at most %d are allowed", p.tableElements, p.lim.TableElements)
	}
	if len(p.m.Tables) >= p.lim.Tables {
		p.refuse(OverLimit, start, "more than %d tables, imported ones counted", p.lim.Tables)
	}
	return t
}

// memories reads the memory section, which may hold one memory. An imported one counts too.
func (p *parser) memories() {
	start := p.at
	n := p.u32()
	if n > 1 {
		p.refuse(MultiMemory, start, "%d memories; one is supported", n)
	}
	if n == 1 {
		p.memory()
	}
}

func (p *parser) memory() Bounds {
	start := p.at
	if p.m.Memory != nil {
		p.refuse(MultiMemory, start, "a second memory; one is supported")
		return Bounds{}
	}
	b := p.bounds("memory")
	if p.err == nil && int64(b.Min) > int64(p.lim.MemoryPages) {
		p.refuse(OverLimit, start, "a memory of %d pages of 64 KiB at the start; at most %d are allowed", b.Min, p.lim.MemoryPages)
	}
	p.m.Memory = &b
	return b
}

// bounds reads limits, which the threads and memory64 proposals extended by flags.
func (p *parser) bounds(what string) Bounds {
	start := p.at
	flags := p.byte()
	switch {
	case flags&^7 != 0:
		p.refuse(Malformed, start, "unknown flags %#02x of a %s", flags, what)
	case flags&4 != 0:
		p.refuse(Memory64, start, "a %s with 64-bit addresses; build for wasm32", what)
	case flags&2 != 0:
		p.refuse(SharedMemory, start, "a %s shared between threads; build without threads (-pthread, -matomics)", what)
	}
	b := Bounds{Min: p.u32(), HasMax: flags&1 != 0}
	if b.HasMax {
		b.Max = p.u32()
	}
	return b
}

func (p *parser) globals() {
	start := p.at
	n := p.count("globals", p.lim.Globals)
	if all := n + len(p.m.GlobalTypes); all > p.lim.Globals {
		p.refuse(OverLimit, start, "%d globals, imported ones counted; at most %d are allowed", all, p.lim.Globals)
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

func (p *parser) globalType() GlobalType {
	t := GlobalType{Type: p.valueType()}
	start := p.at
	mutable := p.byte()
	if mutable > 1 {
		p.refuse(Malformed, start, "a global with the unknown flags %#02x", mutable)
	}
	if t.Mutable = mutable == 1; t.Mutable {
		p.mutable++
	}
	return t
}

// constant reads a constant expression. Whether it leaves one value of the right type is for who compiles.
func (p *parser) constant() Const {
	c := Const{Offset: p.at}
	var first byte
	for n := 0; p.err == nil; n++ {
		start := p.at
		op := p.byte()
		if n == 0 {
			first = op
		}
		switch op {
		case opEnd:
			c.Code = p.wasm[c.Offset:p.at]
			c.IsNumber, c.IsGlobal = n == 1 && first == opI32Const, n == 1 && first == opGlobalGet
			return c
		case opI32Const:
			c.Number = p.signed(32)
		case opI64Const:
			p.signed(64)
		case opF32Const:
			p.bytes(4)
		case opF64Const:
			p.bytes(8)
		case opGlobalGet:
			c.Global = p.index("global", len(p.m.GlobalTypes))
		case opRefNull:
			p.refType()
		case opRefFunc:
			p.function()
		case opVector:
			p.v128Const(start)
		case opI32Add, opI32Sub, opI32Mul, opI64Add, opI64Sub, opI64Mul: // of the proposal for extended constant expressions
		default:
			p.refuse(UnknownOpcode, start, "instruction %#02x in a constant expression, which has constants, global.get and integer add, sub and mul", op)
		}
	}
	return Const{}
}

func (p *parser) v128Const(start int) {
	if op := p.byte(); op != vecConst {
		p.refuse(UnknownOpcode, start, "vector instruction %#02x in a constant expression; only v128.const is allowed", op)
	}
	p.bytes(16)
}

// The bits of an element segment's flags. Core specification 5.5.12.
const (
	segmentPassive  = 1 // passive, or declarative where explicit is set too
	segmentExplicit = 2 // a table index, or declarative
	segmentExprs    = 4 // expressions instead of function indexes
)

func (p *parser) elementSegments() {
	n := p.count("element segments", p.lim.ElementSegments)
	for range n {
		if p.elementSegment(); p.err != nil {
			return
		}
		p.m.Elements++
	}
}

func (p *parser) elementSegment() {
	start := p.at
	flags := p.u32()
	if flags > 7 {
		p.refuse(Malformed, start, "unknown flags %#x of an element segment", flags)
		return
	}
	if flags&segmentPassive == 0 {
		if flags&segmentExplicit != 0 {
			p.index("table", len(p.m.Tables))
		}
		p.constant()
	}
	if flags&(segmentPassive|segmentExplicit) != 0 {
		p.elementType(flags)
	}
	n := p.count("elements of a segment", p.lim.Elements)
	if p.elements += n; p.elements > p.lim.Elements {
		p.refuse(OverLimit, start, "more than %d elements in all element segments", p.lim.Elements)
	}
	for range n {
		if flags&segmentExprs != 0 {
			p.constant()
		} else {
			p.function()
		}
		if p.err != nil {
			return
		}
	}
}

func (p *parser) elementType(flags uint32) {
	if flags&segmentExprs != 0 {
		p.refType()
		return
	}
	start := p.at
	if kind := p.byte(); kind != 0 {
		p.refuse(Malformed, start, "unknown kind %d of an element segment", kind)
	}
}

func (p *parser) dataCount() {
	start := p.at
	n := p.u32()
	if int64(n) > int64(p.lim.DataSegments) {
		p.refuse(OverLimit, start, "%d data segments; at most %d are allowed", n, p.lim.DataSegments)
	}
	p.m.DataCount = int(n)
}

func (p *parser) data() {
	n := p.count("data segments", p.lim.DataSegments)
	p.m.Data = make([]Segment, 0, n)
	for range n {
		start := p.at
		flags := p.u32()
		s := Segment{Passive: flags == 1}
		switch flags {
		case 0:
			s.Offset = p.constant()
		case 1:
		case 2:
			if p.u32() != 0 {
				p.refuse(MultiMemory, start, "a data segment for a second memory; one is supported")
			}
			s.Offset = p.constant()
		default:
			p.refuse(Malformed, start, "unknown flags %#x of a data segment", flags)
		}
		s.Data = p.bytes(p.u32())
		if p.err != nil {
			return
		}
		p.m.Data = append(p.m.Data, s)
	}
}
