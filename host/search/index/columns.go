package index

// column contains the values that the rows have under one name of their metadata. Rows are only
// appended. Rows without a scalar under the name are not in the column.
type column struct {
	// values contains the different values. ids maps a value to its index in values.
	values []scalar
	ids    map[scalar]uint32
	// pairs contains the rows that have a value.
	pairs []pair
}

// pair contains the number of a row and an index in column.values.
type pair struct{ row, value uint32 }

// columns maps names of metadata to columns.
type columns map[string]*column

// The approximate size of a column without values, and the approximate size of a value without its
// text.
const (
	columnBytes = 200
	valueBytes  = 2*32 + mapBytes
)

// The method append adds the metadata of a row. The method append returns the number of bytes that
// were allocated.
func (cs columns) append(row uint32, metadata map[string]any) (allocated int64) {
	for name, value := range metadata {
		s := scalarOf(value)
		if s.kind == none {
			continue
		}
		c := cs[name]
		if c == nil {
			c = &column{ids: map[scalar]uint32{}}
			cs[name] = c
			allocated += columnBytes + int64(len(name))
		}
		allocated += c.append(row, s)
	}
	return allocated
}

// The method append adds the value of a row. The method append returns the number of bytes that
// were allocated.
func (c *column) append(row uint32, value scalar) (allocated int64) {
	id, known := c.ids[value]
	if !known {
		id = uint32(len(c.values))
		c.ids[value] = id
		c.values = append(c.values, value)
		allocated += valueBytes + int64(len(value.text))
	}
	before := cap(c.pairs)
	c.pairs = append(c.pairs, pair{row, id})
	return allocated + int64(cap(c.pairs)-before)*8
}

// compact copies the pairs of the remaining rows to other columns. The argument "renumbered" maps
// the old number of each row to its new number.
func (cs columns) compact(to columns, renumbered []uint32) (allocated int64) {
	for name, c := range cs {
		made := &column{ids: map[scalar]uint32{}}
		added := int64(columnBytes + len(name))
		for _, pair := range c.pairs {
			if row := renumbered[pair.row]; row != removed {
				added += made.append(row, c.values[pair.value])
			}
		}
		if len(made.pairs) > 0 {
			to[name] = made
			allocated += added
		}
	}
	return allocated
}

// selection is a condition on a snapshot of a column.
type selection struct {
	condition condition
	values    []scalar
	pairs     []pair
	// accepted contains the indexes of the accepted values, if the condition lists values.
	accepted []uint32
}

// selection returns a condition and a snapshot of the column to which the condition applies.
func (cs columns) selection(c condition) selection {
	column := cs[c.name]
	if column == nil {
		return selection{}
	}
	s := selection{condition: c, values: column.values, pairs: column.pairs}
	for _, value := range c.in {
		if id, known := column.ids[value]; known {
			s.accepted = append(s.accepted, id)
		}
	}
	return s
}

// rows returns the accepted rows whose numbers are less than n.
func (s *selection) rows(n int) bitset {
	rows := newBitset(n)
	if s.condition.in != nil && len(s.accepted) == 0 {
		return rows
	}
	if len(s.accepted) == 1 {
		for _, c := range s.pairs {
			if c.value == s.accepted[0] {
				rows.add(c.row)
			}
		}
		return rows
	}
	values := s.acceptedValues()
	for _, c := range s.pairs {
		if values.contains(c.value) {
			rows.add(c.row)
		}
	}
	return rows
}

// acceptedValues returns the set of the indexes of the accepted values.
func (s *selection) acceptedValues() bitset {
	values := newBitset(len(s.values))
	for _, id := range s.accepted {
		values.add(id)
	}
	if s.condition.in == nil {
		for id, value := range s.values {
			if s.condition.matches(value) {
				values.add(uint32(id))
			}
		}
	}
	return values
}
