package schema

// place is the location of a value in a document. All paths to the same value share a place, so
// that places can be compared. Children are allocated only for arrays and objects, when they are
// opened.
type place struct {
	parent *place
	index  int // among the parent's elements or names
	box    *box
}

type box struct {
	names  []string // sorted; nil for an array
	places []place
}

// open returns the sorted names of an object.
func (p *place) open(object map[string]any) []string {
	if p.box == nil {
		names := sortedKeys(object)
		p.box = &box{names: names, places: make([]place, len(names))}
	}
	return p.box.names
}

// openArray allocates the places of an array's elements.
func (p *place) openArray(size int) {
	if p.box == nil {
		p.box = &box{places: make([]place, size)}
	}
}

// child returns the place of the i-th element or member. The parent must be open.
func (p *place) child(i int) *place {
	c := &p.box.places[i]
	c.parent, c.index = p, i
	return c
}

// pointer returns the JSON Pointer of the place.
func (p *place) pointer() string {
	if p.parent == nil {
		return ""
	}
	if names := p.parent.box.names; names != nil {
		return join(p.parent.pointer(), names[p.index])
	}
	return joinIndex(p.parent.pointer(), p.index)
}

// marks is a set of members or elements of one value that were evaluated, in the sense of
// unevaluatedProperties and unevaluatedItems. The zero value is empty.
type marks struct {
	all  bool
	low  uint64
	high []uint64 // those from 64 on
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
