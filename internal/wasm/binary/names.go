package binary

// The parts of the name section that a compiler reads. Core specification 7.4.1.
const (
	moduleName    = 0
	functionNames = 1
	localNames    = 2
)

// custom reads a custom section. Their content is free, but for the section of names: compilers read it, make
// room for what it announces, and some do not mind where its parts say that they end.
func (p *parser) custom() {
	name := p.name("the name of a custom section", p.lim.NameBytes)
	if p.err != nil {
		return
	}
	p.m.Custom = append(p.m.Custom, name)
	if name != "name" {
		p.at = p.end
		return
	}
	if p.hasNames {
		p.refuse(Malformed, p.at, "a second section of names")
	}
	p.hasNames = true
	p.names()
}

func (p *parser) names() {
	end := p.end
	for p.err == nil && p.at < end {
		start := p.at
		id := p.byte()
		size := p.u32()
		if uint64(size) > uint64(p.left()) {
			p.refuse(Malformed, start, "a part of the name section announces %d bytes, %d are left", size, p.left())
			return
		}
		p.end = p.at + int(size)
		switch id {
		case moduleName:
			p.text("the name of the module", p.lim.NameBytes)
		case functionNames:
			p.nameMap("function names")
		case localNames:
			p.nameMaps()
		default:
			p.at = p.end
		}
		if p.err == nil && p.left() != 0 {
			p.refuse(Malformed, p.at, "%d bytes too many in a part of the name section", p.left())
		}
		p.end = end
	}
}

func (p *parser) nameMap(what string) {
	for range p.count(what, p.lim.ModuleBytes) {
		p.u32()
		p.text("a name", p.lim.NameBytes)
		if p.err != nil {
			return
		}
	}
}

func (p *parser) nameMaps() {
	for range p.count("functions with local names", p.lim.ModuleBytes) {
		p.u32()
		p.nameMap("local names")
		if p.err != nil {
			return
		}
	}
}
