package binary

// typeParser reads the type section.
type typeParser struct{ *moduleReader }

func (p *typeParser) section() {
	n := p.count("types", p.lim.Types)
	p.m.Types = make([]FuncType, 0, n)
	for range n {
		start := p.at
		form := p.byte()
		if p.err != nil {
			return
		}
		if form != 0x60 {
			p.rejectForm(start, form)
			return
		}
		params := p.valueTypes("parameters of a function type", p.lim.Params)
		results := p.valueTypes("results of a function type", p.lim.Results)
		p.m.Types = append(p.m.Types, FuncType{Params: params, Results: results})
	}
}

func (p *typeParser) rejectForm(start int, form byte) {
	switch form {
	case 0x4e, 0x4f, 0x50, 0x5e, 0x5f:
		p.reject(Unsupported, start, "garbage-collected types are not supported; build for WebAssembly 2.0")
	default:
		p.reject(Malformed, start, "a type has unknown form %#02x", form)
	}
}

func (p *typeParser) valueTypes(what string, limit int) []ValueType {
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
