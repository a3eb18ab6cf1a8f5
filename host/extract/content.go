package extract

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

// content contains the first bytes of a file and their properties.
type content struct {
	head []byte
	text []byte   // the head as UTF-8 without a byte order mark, or nil if the head is not Unicode text
	wide bool     // wide is true if the head is in UTF-16
	old  bool     // the head contains no binary bytes, so it can be in a legacy encoding
	kind []string // the detected media type and its parent types
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

// kindOf detects the media type of content. If the library panics, kindOf returns an unknown type.
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

// name returns the detected type, for use in messages.
func (c content) name() string {
	switch {
	case len(c.head) == 0:
		return "empty"
	case (c.text != nil || c.old) && !slices.Contains(c.kind, "text/plain"): // text can begin with the magic bytes of another format
		return "text/plain"
	case len(c.kind) == 0 || c.kind[0] == "application/octet-stream":
		return "of an unknown type"
	}
	return c.kind[0]
}

// The method "is" reports whether the detected type is one of the given types, or a subtype of a
// given type.
func (c content) is(kinds ...string) bool {
	return slices.ContainsFunc(c.kind, func(k string) bool { return slices.Contains(kinds, k) })
}

// magic returns a check for the magic bytes of a binary format. magic rejects text that begins with
// the same bytes, because files of binary formats contain binary bytes.
func magic(kind string) func(content) bool {
	return func(c content) bool { return c.text == nil && c.is(kind) }
}

// isPDF reports whether the content begins with the PDF header, as the standard requires. Some
// programs also accept the header at a later position. Programs that accept the header at any
// position would treat an HTML file with this header as a PDF.
func (c content) isPDF() bool {
	return bytes.HasPrefix(bytes.TrimLeft(withoutMark(c.head), "\r\n\t "), []byte("%PDF-"))
}

// isText reports whether the content is text. For an empty file, isText, isHTML and isJSON return
// true.
func (c content) isText() bool { return c.text != nil || c.old || len(c.head) == 0 }

func (c content) isCSV() bool {
	return c.isText() && !c.is("text/html", "text/xml", "image/svg+xml", "text/rtf")
}

// isHTML reports whether the content can be HTML. isHTML accepts any text, because HTML fragments
// look like other text.
func (c content) isHTML() bool {
	if len(c.head) == 0 {
		return true
	}
	return (c.text != nil || c.old) && !c.wide && (c.is("text/html", "application/xhtml+xml") || slices.Contains([]string{"text/plain", "text/xml"}, c.name()))
}

func (c content) isRTF() bool {
	return c.text != nil && !c.wide && bytes.HasPrefix(c.text, []byte(`{\rtf`))
}

// isJSON reports whether the content can be the beginning of a JSON value.
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

// compound returns a check for one of the older Office formats. All older Office formats use the
// same container format. If the directory of the container is outside of the head, the check
// accepts the claimed format.
func compound(kind string) func(content) bool {
	return func(c content) bool {
		return len(c.kind) > 0 && (c.kind[0] == kind || c.kind[0] == "application/x-ole-storage")
	}
}

// office returns a check for one of the newer Office formats. The check searches the archive for
// the folder of the format.
func office(folder string) func(content) bool {
	return func(c content) bool {
		if len(c.kind) == 0 || c.kind[0] != "application/zip" && !strings.HasPrefix(c.kind[0], ooxml) {
			return false // the archive has another detected type, such as JAR
		}
		names := entries(c.head)
		first := slices.IndexFunc(names, func(name string) bool {
			return strings.HasPrefix(name, "word/") || strings.HasPrefix(name, "xl/") || strings.HasPrefix(name, "ppt/")
		})
		return first >= 0 && strings.HasPrefix(names[first], folder) && !slices.Contains(names, "META-INF/MANIFEST.MF")
	}
}

// entries returns the file names in the head of a ZIP archive.
func entries(head []byte) (names []string) {
	const fixed, limit = 30, 1000
	for len(names) < limit {
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

// textOf decodes data that is UTF-8 or UTF-16. textOf returns the text as UTF-8 without a byte
// order mark, and reports whether the data was UTF-16. textOf returns nil if the data has another
// encoding or contains binary characters. If the argument "cut" is true, the data is the beginning
// of a file, so the last character can be incomplete.
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
