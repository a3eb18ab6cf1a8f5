package binary

// Parse parses a module and checks it against lim. Parse takes time and memory linear in the size
// of the module. The Module refers to the argument "wasm", which must not change while the Module
// is in use. An error of Parse is of type *Error.
//
// In an accepted module, all counts and sizes are correct, sections are in order, and every index
// is valid. Every function consists of known instructions, and its blocks are nested correctly. If
// an opcode has several encodings, Parse accepts only the encoding that all readers interpret in
// the same way.
func Parse(wasm []byte, lim Limits) (*Module, error) {
	lim = lim.WithDefaults()
	if err := checkHeader(wasm); err != nil {
		return nil, err
	}
	if len(wasm) > lim.ModuleBytes {
		return nil, errorAt(OverLimit, 0, "the module has %d bytes; the limit is %d", len(wasm), lim.ModuleBytes)
	}
	sections, err := Sections(wasm)
	if err != nil {
		return nil, err
	}
	p := newParser(&moduleReader{
		reader: reader{wasm: wasm},
		lim:    lim,
		m:      &Module{Size: len(wasm), Sections: sections, Start: -1, DataCount: -1},
	})
	for _, s := range sections {
		if p.section(s); p.err != nil {
			return nil, p.err
		}
	}
	if p.checkCounts(); p.err != nil {
		return nil, p.err
	}
	return p.m, nil
}

// parser reads the sections of a module in file order. Each embedded parser reads some of the
// module's sections.
type parser struct {
	*moduleReader
	// The field "last" is the position in sectionOrder of the last section that is not a custom
	// section.
	last        int
	types       typeParser
	externs     externParser
	definitions *definitionParser
	segments    segmentParser
	functions   functionParser
	names       nameParser
}

func newParser(r *moduleReader) *parser {
	d := &definitionParser{moduleReader: r}
	return &parser{
		moduleReader: r,
		types:        typeParser{r},
		externs:      externParser{moduleReader: r, definitions: d},
		definitions:  d,
		segments:     segmentParser{moduleReader: r},
		functions:    newFunctionParser(r),
		names:        nameParser{moduleReader: r},
	}
}

func (p *parser) section(s Section) {
	start := s.Offset
	p.at, p.end = s.Offset, s.Offset+len(s.Data)
	if int(s.ID) >= len(sectionNames) {
		p.rejectSection(s)
		return
	}
	name := sectionNames[s.ID]
	if s.ID != CustomSection {
		if order := sectionOrder(s.ID); order <= p.last {
			p.reject(Malformed, start, "the %s section is duplicated or out of order", name)
			return
		}
		p.last = sectionOrder(s.ID)
	}
	p.content(s.ID)
	if p.err == nil && p.left() != 0 {
		p.reject(Malformed, p.at, "the %s section has %d extra bytes at its end", name, p.left())
	}
}

func (p *parser) rejectSection(s Section) {
	if s.ID == 13 {
		p.reject(Unsupported, s.Offset, "the module has a tag section (exception handling proposal); build without -fwasm-exceptions")
		return
	}
	p.reject(Malformed, s.Offset, "unknown section %d", s.ID)
}

func (p *parser) content(id byte) {
	switch id {
	case CustomSection:
		p.names.custom()
	case TypeSection:
		p.types.section()
	case ImportSection:
		p.externs.imports()
	case FunctionSection:
		p.functions.declarations()
	case TableSection:
		p.definitions.tables()
	case MemorySection:
		p.definitions.memories()
	case GlobalSection:
		p.definitions.globals()
	case ExportSection:
		p.externs.exports()
	case StartSection:
		p.start()
	case ElementSection:
		p.segments.elementSegments()
	case DataCountSection:
		p.segments.dataCount()
	case CodeSection:
		p.functions.bodies(p.definitions.mutableGlobals)
	case DataSection:
		p.segments.data()
	}
}

// start reads the index of the start function, which must have the type () -> ().
func (p *parser) start() {
	at := p.at
	p.m.Start = int(p.funcIndex())
	if p.err != nil {
		return
	}
	if t := p.m.Types[p.m.Funcs[p.m.Start]]; len(t.Params)+len(t.Results) > 0 {
		p.reject(Malformed, at, "the start function has type %s; want () -> ()", t)
	}
}

// checkCounts compares the entry counts of sections that must have the same number of entries.
func (p *parser) checkCounts() {
	if n := len(p.functions.declared); n != len(p.m.Functions) {
		p.reject(Malformed, p.m.Size, "%d functions are declared, but %d have bodies", n, len(p.m.Functions))
	}
	if p.m.DataCount >= 0 && p.m.DataCount != len(p.m.Data) {
		p.reject(Malformed, p.m.Size, "the data count section declares %d segments, but the module has %d", p.m.DataCount, len(p.m.Data))
	}
}
