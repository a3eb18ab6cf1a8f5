package binary

// The package checks the following subsections of the name section. Core specification 7.4.1.
const (
	moduleName    = 0
	functionNames = 1
	localNames    = 2
)

// nameParser reads custom sections.
type nameParser struct {
	*moduleReader
	// seen reports whether a name section was read.
	seen bool
}

// custom reads a custom section. custom checks only the name section, because compilers read that
// section and allocate memory for its counts. custom also checks the size of each subsection of the
// name section, because some compilers ignore these sizes.
func (p *nameParser) custom() {
	name := p.name("the name of a custom section", p.lim.NameBytes)
	if p.err != nil {
		return
	}
	p.m.Custom = append(p.m.Custom, name)
	if name != "name" {
		p.at = p.end
		return
	}
	if p.seen {
		p.reject(Malformed, p.at, "the module has a second name section")
	}
	p.seen = true
	p.subsections()
}

func (p *nameParser) subsections() {
	end := p.end
	for p.err == nil && p.at < end {
		start := p.at
		id := p.byte()
		size := p.u32()
		if uint64(size) > uint64(p.left()) {
			p.reject(Malformed, start, "a subsection of the name section declares %d bytes, but only %d bytes are left", size, p.left())
			return
		}
		p.end = p.at + int(size)
		switch id {
		case moduleName:
			p.text("the name of the module", p.lim.NameBytes)
		case functionNames:
			p.nameMap("function names")
		case localNames:
			p.indirectNameMap()
		default:
			p.at = p.end
		}
		if p.err == nil && p.left() != 0 {
			p.reject(Malformed, p.at, "a subsection of the name section has %d extra bytes at its end", p.left())
		}
		p.end = end
	}
}

func (p *nameParser) nameMap(what string) {
	for range p.count(what, p.lim.ModuleBytes) {
		p.u32()
		p.text("a name", p.lim.NameBytes)
		if p.err != nil {
			return
		}
	}
}

// indirectNameMap reads the names of locals, which are grouped by function.
func (p *nameParser) indirectNameMap() {
	for range p.count("functions with local names", p.lim.ModuleBytes) {
		p.u32()
		p.nameMap("local names")
		if p.err != nil {
			return
		}
	}
}
