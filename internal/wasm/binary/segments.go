package binary

// segmentParser reads element segments, data segments and the data count.
type segmentParser struct {
	*moduleReader
	// elements is the number of elements in all element segments.
	elements int
}

// These are the bits in the flags of an element segment. Core specification 5.5.12.
const (
	segmentPassive  = 1 // the segment is passive, or declarative if segmentExplicit is also set
	segmentExplicit = 2 // the segment has a table index or is declarative
	segmentExprs    = 4 // the segment contains expressions instead of function indexes
)

func (p *segmentParser) elementSegments() {
	n := p.count("element segments", p.lim.ElementSegments)
	for range n {
		if p.elementSegment(); p.err != nil {
			return
		}
		p.m.Elements++
	}
}

func (p *segmentParser) elementSegment() {
	start := p.at
	flags := p.u32()
	if flags > 7 {
		p.reject(Malformed, start, "an element segment has unknown flags %#x", flags)
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
		p.reject(OverLimit, start, "the element segments have more than %d elements", p.lim.Elements)
	}
	for range n {
		if flags&segmentExprs != 0 {
			p.constant()
		} else {
			p.funcIndex()
		}
		if p.err != nil {
			return
		}
	}
}

func (p *segmentParser) elementType(flags uint32) {
	if flags&segmentExprs != 0 {
		p.refType()
		return
	}
	start := p.at
	if kind := p.byte(); kind != 0 {
		p.reject(Malformed, start, "an element segment has unknown kind %d", kind)
	}
}

func (p *segmentParser) dataCount() {
	start := p.at
	n := p.u32()
	if int64(n) > int64(p.lim.DataSegments) {
		p.reject(OverLimit, start, "the module has %d data segments; the limit is %d", n, p.lim.DataSegments)
	}
	p.m.DataCount = int(n)
}

func (p *segmentParser) data() {
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
				p.reject(MultiMemory, start, "a data segment refers to a second memory; only one is supported")
			}
			s.Offset = p.constant()
		default:
			p.reject(Malformed, start, "a data segment has unknown flags %#x", flags)
		}
		s.Data = p.bytes(p.u32())
		if p.err != nil {
			return
		}
		p.m.Data = append(p.m.Data, s)
	}
}
