package schema

// location is the position of a value in a document. There is only one location for each value, so
// locations can be compared by address. The methods open and openArray allocate the locations of
// the children.
type location struct {
	parent   *location
	index    int // the index among the parent's elements or names
	children *children
}

type children struct {
	names     []string // the sorted names of an object, or nil for an array
	locations []location
}

// open returns the sorted names of an object. The first call allocates the locations of the
// object's members.
func (p *location) open(object map[string]any) []string {
	if p.children == nil {
		names := sortedKeys(object)
		p.children = &children{names: names, locations: make([]location, len(names))}
	}
	return p.children.names
}

// openArray allocates the locations of the elements of an array.
func (p *location) openArray(size int) {
	if p.children == nil {
		p.children = &children{locations: make([]location, size)}
	}
}

// child returns the location of the element or member with index i. Before a call of child, the
// caller must call open or openArray on the parent.
func (p *location) child(i int) *location {
	c := &p.children.locations[i]
	c.parent, c.index = p, i
	return c
}

// pointer returns the JSON Pointer to the location.
func (p *location) pointer() string {
	if p.parent == nil {
		return ""
	}
	if names := p.parent.children.names; names != nil {
		return join(p.parent.pointer(), names[p.index])
	}
	return joinIndex(p.parent.pointer(), p.index)
}

// marks is a set of evaluated members or elements of one value, as unevaluatedProperties and
// unevaluatedItems define them. The zero value of marks is the empty set.
type marks struct {
	all  bool
	low  uint64
	high []uint64 // the slice contains the members with index 64 and above
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

// join adds the members of another set.
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
