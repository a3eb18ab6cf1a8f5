// Package chunk splits the text of a document into chunks, so that a search can find parts of the
// document. If possible, a chunk ends at a heading or at the end of a paragraph. Each chunk begins
// with the end of the previous chunk.
//
// Where a chunk ends depends only on the nearby text, and the id of a chunk depends on the chunk's
// text. If a document is edited, the ids of only a few chunks therefore change.
package chunk

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"hash/fnv"
	"strings"
	"unicode"
)

// These are the default values and the limits of the fields of Options, in bytes.
const (
	DefaultBytes   = 1200
	DefaultOverlap = 150
	MinBytes       = 100
	MaxBytes       = 64 << 10
)

// Options are the options of Split.
type Options struct {
	// Source identifies the document. For example, Source is a file name. If two documents have the
	// same text but different sources, their chunks have different ids.
	Source string
	// Bytes is the maximum size of a chunk's text. The overlap does not count. Bytes must be
	// between MinBytes and MaxBytes. Default: DefaultBytes.
	Bytes int
	// Overlap is the maximum size of the overlap of a chunk. Overlap can be at most Bytes. If
	// Overlap is negative, the chunks have no overlap. Default: DefaultOverlap.
	Overlap int
}

// Chunk is a part of a text.
type Chunk struct {
	// ID identifies the chunk. The ID depends on the source, and on the chunk's text without the
	// overlap. If several chunks of a source are equal, the ID of such a chunk also depends on its
	// position among the equal chunks.
	ID string
	// Text is the text of the chunk. The first Overlap bytes of Text are also the end of the
	// previous chunk.
	Text    string
	Overlap int
	// Offset is the position in the document at which the text after the overlap begins. The unit
	// of Offset is bytes.
	Offset int
	// Page is the number of the page that contains the position Offset. Page numbers start at 1. If
	// the document has no page breaks (form feeds), Page is 0.
	Page int
	// Headings contains the headings of the section to which the chunk belongs. The outermost
	// heading is first.
	Headings []string
}

// Split splits a text into chunks. The chunks, without their overlaps, contain the whole text
// except white space between the chunks. The time that Split needs is linear in the size of the
// text.
func Split(text string, o Options) []Chunk {
	o = o.withDefaults()
	p := packer{text: text, options: o, paged: strings.Contains(text, "\f"), seen: map[[sha256.Size]byte]int{}}
	forEachUnit(text, o.Bytes, p.add)
	p.end(len(text))
	return p.chunks
}

func (o Options) withDefaults() Options {
	o.Bytes = min(max(cmp.Or(o.Bytes, DefaultBytes), MinBytes), MaxBytes)
	o.Overlap = min(max(cmp.Or(o.Overlap, DefaultOverlap), 0), o.Bytes)
	return o
}

// packer combines units into chunks.
type packer struct {
	text    string
	options Options
	paged   bool
	chunks  []Chunk
	// start is the position at which the current chunk begins. headed is true if the chunk begins
	// with a heading. complete is true if the chunk contains text that is not a heading.
	start            int
	headed, complete bool
	headings         []heading
	// page is the number of the page that contains the position pageAt.
	page, pageAt int
	// seen contains the number of equal chunks so far.
	seen map[[sha256.Size]byte]int
}

// heading is a heading of the current section.
type heading struct {
	level int
	text  string
}

// add adds a unit.
func (p *packer) add(u unit) {
	if u.start > p.start && (u.level > 0 && p.complete || u.end-p.start > p.options.Bytes) {
		p.end(u.start)
	}
	if u.level > 0 {
		p.headed = p.headed || !p.complete
		p.enter(heading{u.level, u.title})
		return
	}
	text := p.text[u.start:u.end]
	p.complete = p.complete || strings.TrimSpace(text) != ""
	if size := u.end - p.start; p.complete && size >= p.options.Bytes/2 && isCut(text) {
		p.end(u.end)
	}
}

// isCut reports whether a chunk ends after the given unit, even if the chunk is not full. The
// result depends only on the unit. Therefore an edit of the document affects only chunks near the
// edit. The other chunks end after the same units as before.
func isCut(unit string) bool {
	h := fnv.New32a()
	h.Write([]byte(strings.TrimSpace(unit)))
	return h.Sum32()%4 == 0
}

// enter begins the section that follows a heading.
func (p *packer) enter(h heading) {
	n := len(p.headings)
	for n > 0 && p.headings[n-1].level >= h.level {
		n--
	}
	p.headings = append(p.headings[:n:n], h)
}

// end ends the current chunk. White space at both ends is not part of a chunk.
func (p *packer) end(at int) {
	text := strings.TrimLeftFunc(p.text[p.start:at], unicode.IsSpace)
	body := strings.TrimRightFunc(text, unicode.IsSpace)
	if body == "" {
		p.start, p.headed, p.complete = at, false, false
		return
	}
	start := at - len(text)
	c := Chunk{ID: p.id(body), Offset: start, Page: p.pageOf(start)}
	for _, h := range p.headings {
		c.Headings = append(c.Headings, h.text)
	}
	if last := len(p.chunks) - 1; last >= 0 && !p.headed {
		c.Overlap = overlap(p.text[p.chunks[last].Offset:start], p.options.Overlap)
	}
	c.Text = p.text[start-c.Overlap : start+len(body)]
	p.chunks = append(p.chunks, c)
	p.start, p.headed, p.complete = at, false, false
}

// overlap returns the size of the overlap that the end of a text can provide. The overlap consists
// of whole words and has at most the given size.
func overlap(text string, size int) int {
	if len(text) > size {
		text = text[len(text)-size:]
		space := strings.IndexAny(text, " \n\t\f")
		if space < 0 {
			return 0
		}
		text = text[space+1:]
	}
	return len(strings.TrimLeftFunc(text, unicode.IsSpace))
}

// id returns the id of a chunk.
func (p *packer) id(body string) string {
	digest := sha256.Sum256([]byte(p.options.Source + "\x00" + body))
	p.seen[digest]++
	if n := p.seen[digest]; n > 1 {
		digest = sha256.Sum256(append(digest[:], byte(n), byte(n>>8), byte(n>>16), byte(n>>24)))
	}
	return hex.EncodeToString(digest[:16])
}

// pageOf returns the number of the page that contains a position. The positions in successive calls
// must not decrease.
func (p *packer) pageOf(at int) int {
	if !p.paged {
		return 0
	}
	p.page += strings.Count(p.text[p.pageAt:at], "\f")
	p.pageAt = at
	return p.page + 1
}
