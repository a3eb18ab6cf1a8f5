package schema

// location is a position of a value in a document. All paths to the same value share one location,
// so that locations can be compared by address. The locations of children are allocated only when
// an array or object is opened.
type location struct {
	parent   *location
	index    int // among the parent's elements or names
	children *children
}

type children struct {
	names     []string // sorted; nil for an array
	locations []location
}

// open returns the sorted names of an object.
func (p *location) open(object map[string]any) []string {
	if p.children == nil {
		names := sortedKeys(object)
		p.children = &children{names: names, locations: make([]location, len(names))}
	}
	return p.children.names
}

// openArray allocates the locations of an array's elements.
func (p *location) openArray(size int) {
	if p.children == nil {
		p.children = &children{locations: make([]location, size)}
	}
}

// child returns the location of the i-th element or member. The parent must be open.
func (p *location) child(i int) *location {
	c := &p.children.locations[i]
	c.parent, c.index = p, i
	return c
}

// pointer returns the JSON Pointer of the location.
func (p *location) pointer() string {
	if p.parent == nil {
		return ""
	}
	if names := p.parent.children.names; names != nil {
		return join(p.parent.pointer(), names[p.index])
	}
	return joinIndex(p.parent.pointer(), p.index)
}

// marks is a set of evaluated members or elements of one value, in the sense of
// unevaluatedProperties and unevaluatedItems. The zero value is empty.
type marks struct {
	all  bool
	low  uint64
	high []uint64 // members from 64 on
}

func (m *marks) add(i int) {
	if i < 64 {
		m.low |= 1 << i
		return
	}
	word := i/64 - 1
	for len(m.high) <= word {
		m.high = append(m.high, 0)
	}
	m.high[word] |= 1 << (i % 64)
}

func (m *marks) has(i int) bool {
	if m.all {
		return true
	}
	if i < 64 {
		return m.low&(1<<i) != 0
	}
	word := i/64 - 1
	return word < len(m.high) && m.high[word]&(1<<(i%64)) != 0
}

// join adds the members of other.
func (m *marks) join(other marks) {
	m.all = m.all || other.all
	m.low |= other.low
	for len(m.high) < len(other.high) {
		m.high = append(m.high, 0)
	}
	for i, word := range other.high {
		m.high[i] |= word
	}
}
