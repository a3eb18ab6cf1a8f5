package index

import "github.com/toolrun/toolrun/host/search"

// wordTable contains the rows in which each word occurs. Rows are only appended.
type wordTable struct {
	// terms maps a stem to the index of the stem's list in lists. lists contains one list for each
	// stem.
	terms map[string]uint32
	lists [][]posting
}

// posting contains the number of a row that contains a word, and the number of occurrences of the
// word in the row, up to maxOccurrences.
type posting uint32

// maxRows is the maximum number of rows of a table. A posting has no space for larger row numbers.
const maxRows = 1 << 24

func postingOf(row uint32, occurrences int) posting {
	return posting(row<<8 | uint32(min(occurrences, maxOccurrences)))
}

func (p posting) row() uint32      { return uint32(p >> 8) }
func (p posting) occurrences() int { return int(p & maxOccurrences) }

// The approximate size of a map element, including the element's share of the map's table, and the
// size of a slice.
const (
	mapBytes   = 32
	sliceBytes = 24
)

// analysis contains the words of a text.
type analysis struct {
	// known contains the indexes of the words that the table contains. fresh contains all other
	// words. Repeated words occur repeatedly.
	known []uint32
	fresh []string
}

// analyze splits a text into words. analyze only reads the table. The analysis is valid until the
// table changes. analyze reuses the memory of an earlier analysis.
func (w *wordTable) analyze(text string, tokenizer *search.Tokenizer, earlier analysis) analysis {
	a := analysis{known: earlier.known[:0], fresh: earlier.fresh[:0]}
	for token := range tokenizer.Tokens(text) {
		if term, known := w.terms[token.Stem]; known {
			a.known = append(a.known, term)
		} else {
			a.fresh = append(a.fresh, token.Stem)
		}
	}
	return a
}

// The method append adds the words of a row. The method append returns the number of bytes that
// were allocated.
func (w *wordTable) append(row uint32, a analysis) (allocated int64) {
	for _, term := range a.known {
		allocated += w.count(&w.lists[term], row)
	}
	for _, stem := range a.fresh {
		term, known := w.terms[stem]
		if !known {
			term = uint32(len(w.lists))
			w.terms[stem] = term
			w.lists = append(w.lists, nil)
			allocated += int64(len(stem)) + mapBytes + 2*sliceBytes
		}
		allocated += w.count(&w.lists[term], row)
	}
	return allocated
}

// count records one more occurrence of a word in the last row.
func (*wordTable) count(list *[]posting, row uint32) (allocated int64) {
	if last := len(*list) - 1; last >= 0 && (*list)[last].row() == row {
		if (*list)[last].occurrences() < maxOccurrences {
			(*list)[last]++
		}
		return 0
	}
	before := cap(*list)
	*list = append(*list, postingOf(row, 1))
	return int64(cap(*list)-before) * 4
}

// list returns the postings of a word.
func (w *wordTable) list(stem string) []posting {
	if term, known := w.terms[stem]; known {
		return w.lists[term]
	}
	return nil
}

// compact appends the postings of the remaining rows to another table. The argument "renumbered"
// maps the old number of each row to its new number.
func (w *wordTable) compact(to *wordTable, renumbered []uint32) (allocated int64) {
	to.terms = make(map[string]uint32, len(w.terms))
	for stem, term := range w.terms {
		remaining := 0
		for _, p := range w.lists[term] {
			if renumbered[p.row()] != removed {
				remaining++
			}
		}
		if remaining == 0 {
			continue
		}
		list := make([]posting, 0, remaining)
		for _, p := range w.lists[term] {
			if row := renumbered[p.row()]; row != removed {
				list = append(list, postingOf(row, p.occurrences()))
			}
		}
		to.terms[stem] = uint32(len(to.lists))
		to.lists = append(to.lists, list)
		allocated += int64(len(stem)) + mapBytes + 2*sliceBytes + int64(cap(list))*4
	}
	return allocated
}
