package binary

// externParser reads the import and export sections.
type externParser struct {
	*moduleReader
	definitions *definitionParser
}

func (p *externParser) imports() {
	n := p.count("imports", p.lim.Imports)
	for range n {
		i := Import{Module: p.name("the module name of an import", p.lim.NameBytes), Name: p.name("the name of an import", p.lim.NameBytes)}
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
			i.Table = p.definitions.table()
			p.m.Tables = append(p.m.Tables, i.Table)
		case ExternMemory:
			i.Memory = p.definitions.memory()
		case ExternGlobal:
			i.Global = p.definitions.globalType()
			p.m.GlobalTypes = append(p.m.GlobalTypes, i.Global)
		case 4:
			p.reject(Unsupported, start, "the module imports a tag (exception handling proposal); build without -fwasm-exceptions")
		default:
			p.reject(Malformed, start, "an import has unknown kind %d", byte(i.Kind))
		}
		if p.err != nil {
			return
		}
		p.m.Imports = append(p.m.Imports, i)
	}
}

func (p *externParser) exports() {
	n := p.count("exports", p.lim.Exports)
	for range n {
		e := Export{Name: p.name("the name of an export", p.lim.NameBytes)}
		start := p.at
		e.Kind = ExternKind(p.byte())
		switch e.Kind {
		case ExternFunc:
			e.Index = p.funcIndex()
		case ExternTable:
			e.Index = p.index("table", len(p.m.Tables))
		case ExternMemory:
			e.Index = p.index("memory", p.definitions.memoryCount())
		case ExternGlobal:
			e.Index = p.index("global", len(p.m.GlobalTypes))
		default:
			p.reject(Malformed, start, "an export has unknown kind %d", byte(e.Kind))
		}
		if p.err != nil {
			return
		}
		p.m.Exports = append(p.m.Exports, e)
	}
}
