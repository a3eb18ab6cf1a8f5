package extract

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

// content is the beginning of a file, and what it looks like.
type content struct {
	head []byte
	text []byte   // the head as UTF-8 without its mark, nil if it is not text in Unicode
	wide bool     // the text is in UTF-16
	old  bool     // it may be text in an encoding older than Unicode: no byte is one that text lacks
	kind []string // the media type that its bytes tell, and those that it is a special case of
}

func contentOf(head []byte) content {
	head = head[:min(len(head), HeadBytes)]
	c := content{head: head, kind: kindOf(head)}
	if len(head) > 0 {
		c.text, c.wide = textOf(head, len(head) == HeadBytes)
		c.old = c.text == nil && !c.wide && !bytes.ContainsFunc(head, isBinary)
	}
	return c
}

// kindOf asks for the media type of content, which is a bug of the library's where that panics.
func kindOf(head []byte) (kind []string) {
	defer func() {
		if recover() != nil {
			kind = nil
		}
	}()
	for m := mimetype.Detect(head); m != nil; m = m.Parent() {
		name, _, _ := strings.Cut(m.String(), ";")
		kind = append(kind, name)
	}
	return kind
}

// name is what the content is, for a message.
func (c content) name() string {
	switch {
	case len(c.head) == 0:
		return "empty"
	case (c.text != nil || c.old) && !slices.Contains(c.kind, "text/plain"): // text may begin like anything
		return "text/plain"
	case len(c.kind) == 0 || c.kind[0] == "application/octet-stream":
		return "of no known kind"
	}
	return c.kind[0]
}

// is reports whether the content is of one of these kinds, or a special case of it.
func (c content) is(kinds ...string) bool {
	return slices.ContainsFunc(c.kind, func(k string) bool { return slices.Contains(kinds, k) })
}

// magic tells a format by its first bytes. All such formats have bytes that no text has: what is text is a script that
// pretends.
func magic(kind string) func(content) bool {
	return func(c content) bool { return c.text == nil && c.is(kind) }
}

// isPDF wants the mark at the beginning, where the standard has it: readers that look for it further on take many an
// HTML for a PDF.
func (c content) isPDF() bool {
	return bytes.HasPrefix(bytes.TrimLeft(withoutMark(c.head), "\r\n\t "), []byte("%PDF-"))
}

// isText is also true of an empty file, as the next ones may be.
func (c content) isText() bool { return c.text != nil || c.old || len(c.head) == 0 }

func (c content) isCSV() bool {
	return c.isText() && !c.is("text/html", "text/xml", "image/svg+xml", "text/rtf")
}

// isHTML takes a piece of a page, too, which looks like any text.
func (c content) isHTML() bool {
	if len(c.head) == 0 {
		return true
	}
	return (c.text != nil || c.old) && !c.wide && (c.is("text/html", "application/xhtml+xml") || slices.Contains([]string{"text/plain", "text/xml"}, c.name()))
}

func (c content) isRTF() bool {
	return c.text != nil && !c.wide && bytes.HasPrefix(c.text, []byte(`{\rtf`))
}

// isJSON reports whether a value can begin so.
func (c content) isJSON() bool {
	rest := bytes.TrimLeft(c.text, " \t\r\n")
	if c.old {
		rest = bytes.TrimLeft(c.head, " \t\r\n")
	}
	if len(rest) == 0 {
		return false
	}
	for _, literal := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(rest, []byte(literal)) {
			return true
		}
	}
	return bytes.IndexByte([]byte(`{["-0123456789`), rest[0]) >= 0
}

// compound tells one of the older formats of Office. All are kept in the same kind of file, whose directory may lie
// behind what is looked at: then it is taken for what it claims.
func compound(kind string) func(content) bool {
	return func(c content) bool {
		return len(c.kind) > 0 && (c.kind[0] == kind || c.kind[0] == "application/x-ole-storage")
	}
}

// office tells one of the newer formats of Office by the folder that its archive has.
func office(folder string) func(content) bool {
	return func(c content) bool {
		if len(c.kind) == 0 || c.kind[0] != "application/zip" && !strings.HasPrefix(c.kind[0], ooxml) {
			return false // some other archive, such as a jar
		}
		names := entries(c.head)
		first := slices.IndexFunc(names, func(name string) bool {
			return strings.HasPrefix(name, "word/") || strings.HasPrefix(name, "xl/") || strings.HasPrefix(name, "ppt/")
		})
		return first >= 0 && strings.HasPrefix(names[first], folder) && !slices.Contains(names, "META-INF/MANIFEST.MF")
	}
}

// entries are the names in the beginning of a zip archive.
func entries(head []byte) (names []string) {
	const fixed, most = 30, 1000
	for len(names) < most {
		i := bytes.Index(head, []byte("PK\x03\x04"))
		if i < 0 || len(head)-i < fixed {
			break
		}
		head = head[i:]
		n := int(binary.LittleEndian.Uint16(head[26:]))
		if len(head) < fixed+n {
			break
		}
		names = append(names, string(head[fixed:fixed+n]))
		head = head[fixed+n:]
	}
	return names
}

// textOf returns text as UTF-8 without its mark, and whether it is UTF-16. It is nil for data that is neither UTF-8 nor UTF-16,
// or has characters that are in no text. If the data is only the beginning of a file, the last character may be cut.
func textOf(data []byte, cut bool) (text []byte, wide bool) {
	order, rest := byteOrder(data)
	if order != nil {
		if len(rest)%2 != 0 && !cut {
			return nil, true
		}
		text, wide = fromUTF16(rest, order), true
	} else {
		text = withoutMark(data)
	}
	if cut && !wide {
		text = wholeRunes(text)
	}
	if !utf8.Valid(text) || bytes.ContainsFunc(text, isBinary) {
		return nil, wide
	}
	return text, wide
}
