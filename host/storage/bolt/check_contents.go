package bolt

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/toolrun/toolrun/host/storage"
)

// checkContent checks a content that is not stored in its record. The content must be readable.
func (c *checker) checkContent(k storage.Key, value []byte) {
	var r storage.Record
	ref, err := decodeApart(&r, k, value)
	if err == nil {
		c.apart = append(c.apart, ref)
		_, err = ref.read(c.tx.Bucket(contentsBucket), k)
	}
	if err != nil {
		c.add("content", k, "%v", err)
	}
}

// checkPieces checks that each piece belongs to exactly one record. Callers must check all records
// before they call checkPieces.
func (c *checker) checkPieces() {
	slices.SortFunc(c.apart, func(a, b reference) int { return cmp.Compare(a.first, b.first) })
	for i := 1; i < len(c.apart); i++ {
		if c.apart[i].first < c.apart[i-1].end() {
			c.add("content", "", "two records share content pieces, from piece %d on", c.apart[i].first)
		}
	}
	strays, next := 0, c.apart
	c.each(c.tx.Bucket(contentsBucket), func(k, _ []byte) {
		if len(k) != 8 {
			strays++
			return
		}
		number := binary.BigEndian.Uint64(k)
		for len(next) > 0 && number >= next[0].end() {
			next = next[1:]
		}
		if len(next) == 0 || number < next[0].first {
			strays++
		}
	})
	if strays > 0 {
		c.add("content", "", "%d content pieces do not belong to a record", strays)
	}
}
