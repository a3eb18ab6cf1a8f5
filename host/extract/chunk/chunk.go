// Package chunk splits the text of a document into chunks for a search. A chunk ends at a heading or
// at the end of a paragraph if possible, and begins with the end of the previous chunk.
//
// The end of a chunk depends only on the text near it, and the id of a chunk depends on its text.
// An edit of a document therefore changes the ids of few chunks.
package chunk

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"hash/fnv"
	"strings"
	"unicode"
)

// These are the defaults and limits of Options, in bytes.
const (
	DefaultBytes   = 1200
	DefaultOverlap = 150
	MinBytes       = 100
	MaxBytes       = 64 << 10
)

// Options are the options of Split.
type Options struct {
	// Source identifies the document, such as a file name. The chunks of equal texts have different
	// ids if their sources differ.
	Source string
	// Bytes is the maximum size of the text of a chunk without its overlap, from MinBytes to MaxBytes.
	// Default: DefaultBytes.
	Bytes int
	// Overlap is the maximum size of the overlap, which can be at most Bytes. A negative Overlap
	// means no overlap. Default: DefaultOverlap.
	Overlap int
}

// Chunk is a part of a text.
type Chunk struct {
	// ID identifies the chunk by its source and its text without the overlap. If a source contains
	// several equal chunks, the id of such a chunk also depends on its position among them.
	ID string
	// Text is the text of the chunk. The first Overlap bytes of a chunk are also the end of the
	// previous chunk.
	Text    string
	Overlap int
	// Offset is the position in the document, in bytes, of the text after the overlap.
	Offset int
	// Page is the page of the Offset, counted from 1. Page is 0 if the document has no page breaks
	// (form feeds).
	Page int
	// Headings contains the headings of the section, starting with the outermost heading.
	Headings []string
}

// Split splits a text into chunks. Without their overlaps, the chunks are the whole text except white
// space between them. The work is linear in the size of the text.
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

// packer combines units to chunks.
type packer struct {
	text    string
	options Options
	paged   bool
	chunks  []Chunk
	// start is the position of the current chunk. headed is true if the chunk begins with a
	// heading. complete is true if the chunk contains anything else.
	start            int
	headed, complete bool
	headings         []heading
	// page is the number of the page that contains the position pageAt.
	page, pageAt int
	// seen is the number of equal chunks so far.
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

// isCut reports whether a chunk ends after the given unit although the chunk is not full. The cut
// depends only on the unit. After an edit of the document, chunks therefore soon end at the same
// positions in the text as before.
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

// overlap returns the size of the last words of a text, up to the given size.
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

// pageOf returns the page of a position, which must not be before the last requested position.
func (p *packer) pageOf(at int) int {
	if !p.paged {
		return 0
	}
	p.page += strings.Count(p.text[p.pageAt:at], "\f")
	p.pageAt = at
	return p.page + 1
}
