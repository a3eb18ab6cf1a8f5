package binary

// Parse reads a module and checks it against lim, in time and memory linear in the size of wasm. The Module
// refers to wasm, which must not change while it is in use. The error is an *Error.
//
// What Parse accepts holds what it says: all counts and sizes fit, sections stand in order, every index names
// something that exists, and every function consists of known instructions that nest. Instructions with more
// than one encoding are accepted in the one that all readers understand alike.
func Parse(wasm []byte, lim Limits) (*Module, error) {
	lim = lim.WithDefaults()
	if err := checkHeader(wasm); err != nil {
		return nil, err
	}
	if len(wasm) > lim.ModuleBytes {
		return nil, errorAt(OverLimit, 0, "a module of %d bytes; at most %d are allowed", len(wasm), lim.ModuleBytes)
	}
	sections, err := Sections(wasm)
	if err != nil {
		return nil, err
	}
	p := &parser{
		reader: reader{wasm: wasm},
		lim:    lim,
		m:      &Module{Size: len(wasm), Sections: sections, Start: -1, DataCount: -1},
	}
	for _, s := range sections {
		if p.section(s); p.err != nil {
			return nil, p.err
		}
	}
	if p.finish(); p.err != nil {
		return nil, p.err
	}
	return p.m, nil
}

type parser struct {
	reader
	lim Limits
	m   *Module
	// last is the place of the last section that was no custom one.
	last int
	// declared are the types of the module's own functions, until their code is read.
	declared []uint32
	hasNames bool

	tableElements, elements, locals, allCarried int
	// Of all functions: the bytes of their code, the squares of their blocks, and the targets of their br_tables.
	codeBytes, squares, targets int
	// mutable counts the mutable globals.
	mutable int

	// Of the function that is read: the blocks that have begun, how many there were, how many of those that have
	// begun are loops, how many loops there were, and the values carried.
	labels                           []label
	blocks, loops, allLoops, carried int
}

func (p *parser) section(s Section) {
	start := s.Offset
	p.at, p.end = s.Offset, s.Offset+len(s.Data)
	if int(s.ID) >= len(sectionNames) {
		p.refuseSection(s)
		return
	}
	name := sectionNames[s.ID]
	if s.ID != CustomSection {
		if at := place(s.ID); at <= p.last {
			p.refuse(Malformed, start, "the %s section stands twice or in the wrong place", name)
			return
		}
		p.last = place(s.ID)
	}
	p.content(s.ID)
	if p.err == nil && p.left() != 0 {
		p.refuse(Malformed, p.at, "%d bytes too many at the end of the %s section", p.left(), name)
	}
}

func (p *parser) refuseSection(s Section) {
	if s.ID == 13 {
		p.refuse(Unsupported, s.Offset, "a tag section, of the exception handling proposal; build without -fwasm-exceptions")
		return
	}
	p.refuse(Malformed, s.Offset, "unknown section %d", s.ID)
}

func (p *parser) content(id byte) {
	switch id {
	case CustomSection:
		p.custom()
	case TypeSection:
		p.types()
	case ImportSection:
		p.imports()
	case FunctionSection:
		p.functions()
	case TableSection:
		p.tables()
	case MemorySection:
		p.memories()
	case GlobalSection:
		p.globals()
	case ExportSection:
		p.exports()
	case StartSection:
		p.start()
	case ElementSection:
		p.elementSegments()
	case DataCountSection:
		p.dataCount()
	case CodeSection:
		p.code()
	case DataSection:
		p.data()
	}
}

// finish checks what takes more than one section to see.
func (p *parser) finish() {
	if len(p.declared) != len(p.m.Functions) {
		p.refuse(Malformed, p.m.Size, "%d functions are declared, but %d have code", len(p.declared), len(p.m.Functions))
	}
	if p.m.DataCount >= 0 && p.m.DataCount != len(p.m.Data) {
		p.refuse(Malformed, p.m.Size, "the data count section says %d segments, but there are %d", p.m.DataCount, len(p.m.Data))
	}
}

func (p *parser) types() {
	n := p.count("types", p.lim.Types)
	p.m.Types = make([]FuncType, 0, n)
	for range n {
		start := p.at
		form := p.byte()
		if p.err != nil {
			return
		}
		if form != 0x60 {
			p.refuseForm(start, form)
			return
		}
		params := p.valueTypes("parameters of a function type", p.lim.Params)
		results := p.valueTypes("results of a function type", p.lim.Results)
		p.m.Types = append(p.m.Types, FuncType{Params: params, Results: results})
	}
}

func (p *parser) refuseForm(start int, form byte) {
	switch form {
	case 0x4e, 0x4f, 0x50, 0x5e, 0x5f:
		p.refuse(Unsupported, start, "a type of the garbage collection proposal; build for WebAssembly 2.0")
	default:
		p.refuse(Malformed, start, "a type of the unknown form %#02x", form)
	}
}

func (p *parser) valueTypes(what string, limit int) []ValueType {
	n := p.count(what, limit)
	if n == 0 {
		return nil
	}
	types := make([]ValueType, n)
	for i := range types {
		types[i] = p.valueType()
	}
	return types
}

func (p *parser) imports() {
	n := p.count("imports", p.lim.Imports)
	for range n {
		i := Import{Module: p.name("the name of a module to import from", p.lim.NameBytes), Name: p.name("the name of an import", p.lim.NameBytes)}
		start := p.at
		i.Kind = ExternKind(p.byte())
		if p.err != nil {
			return
		}
		switch i.Kind {
		case ExternFunc:
			i.Type = p.index("type", len(p.m.Types))
			p.m.Funcs = append(p.m.Funcs, i.Type)
		case ExternTable:
			i.Table = p.table()
			p.m.Tables = append(p.m.Tables, i.Table)
		case ExternMemory:
			i.Memory = p.memory()
		case ExternGlobal:
			i.Global = p.globalType()
			p.m.GlobalTypes = append(p.m.GlobalTypes, i.Global)
		case 4:
			p.refuse(Unsupported, start, "an imported tag, of the exception handling proposal; build without -fwasm-exceptions")
		default:
			p.refuse(Malformed, start, "an import of the unknown kind %d", byte(i.Kind))
		}
		if p.err != nil {
			return
		}
		p.m.Imports = append(p.m.Imports, i)
	}
}

func (p *parser) functions() {
	start := p.at
	n := p.count("functions", p.lim.Functions)
	if all := n + len(p.m.Funcs); all > p.lim.Functions {
		p.refuse(OverLimit, start, "%d functions, imported ones counted; at most %d are allowed", all, p.lim.Functions)
		return
	}
	p.declared = make([]uint32, n)
	for i := range p.declared {
		p.declared[i] = p.index("type", len(p.m.Types))
	}
	p.m.Funcs = append(p.m.Funcs, p.declared...)
}

func (p *parser) exports() {
	n := p.count("exports", p.lim.Exports)
	for range n {
		e := Export{Name: p.name("the name of an export", p.lim.NameBytes)}
		start := p.at
		e.Kind = ExternKind(p.byte())
		switch e.Kind {
		case ExternFunc:
			e.Index = p.function()
		case ExternTable:
			e.Index = p.index("table", len(p.m.Tables))
		case ExternMemory:
			e.Index = p.index("memory", p.memoryCount())
		case ExternGlobal:
			e.Index = p.index("global", len(p.m.GlobalTypes))
		default:
			p.refuse(Malformed, start, "an export of the unknown kind %d", byte(e.Kind))
		}
		if p.err != nil {
			return
		}
		p.m.Exports = append(p.m.Exports, e)
	}
}

// function reads the index of a function and keeps where it stands.
func (p *parser) function() uint32 {
	start := p.at
	i := p.index("function", len(p.m.Funcs))
	p.m.References = append(p.m.References, Reference{Offset: start, End: p.at, Index: i})
	return i
}

// start reads the function to call at instantiation, which takes and returns nothing.
func (p *parser) start() {
	at := p.at
	p.m.Start = int(p.function())
	if p.err != nil {
		return
	}
	if t := p.m.Types[p.m.Funcs[p.m.Start]]; len(t.Params)+len(t.Results) > 0 {
		p.refuse(Malformed, at, "the start function is %s, and is to be () -> ()", t)
	}
}

func (p *parser) memoryCount() int {
	if p.m.Memory == nil {
		return 0
	}
	return 1
}
