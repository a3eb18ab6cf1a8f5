package extract

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

// content contains the head of a file, which consists of the file's first bytes. content also
// contains the properties of the head.
type content struct {
	head []byte
	text []byte   // the head as UTF-8 without a byte order mark; nil if the head is not Unicode text
	wide bool     // wide is true if the head is in UTF-16
	old  bool     // true if the head contains no binary bytes and can be in a legacy encoding
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

// kindOf uses a library to detect the media type of content. If the library panics, kindOf returns
// an unknown type.
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

// name returns the detected media type. Messages contain this name.
func (c content) name() string {
	switch {
	case len(c.head) == 0:
		return "empty"
	case (c.text != nil || c.old) && !slices.Contains(c.kind, "text/plain"): // even text can begin with the magic bytes of another format
		return "text/plain"
	case len(c.kind) == 0 || c.kind[0] == "application/octet-stream":
		return "of an unknown type"
	}
	return c.kind[0]
}

// The method "is" reports whether the detected media type is one of the given types or a subtype of
// one of them.
func (c content) is(kinds ...string) bool {
	return slices.ContainsFunc(c.kind, func(k string) bool { return slices.Contains(kinds, k) })
}

// magic returns a check for the magic bytes of a binary format. A file of a binary format also
// contains binary bytes. The check therefore rejects text that begins with the magic bytes.
func magic(kind string) func(content) bool {
	return func(c content) bool { return c.text == nil && c.is(kind) }
}

// isPDF reports whether the content begins with the PDF header. The standard requires the header at
// the beginning. A program that accepts the header at any position would treat an HTML file that
// contains the header as a PDF.
func (c content) isPDF() bool {
	return bytes.HasPrefix(bytes.TrimLeft(withoutMark(c.head), "\r\n\t "), []byte("%PDF-"))
}

// isText reports whether the content is text. For an empty file, isText, isHTML and isJSON return
// true.
func (c content) isText() bool { return c.text != nil || c.old || len(c.head) == 0 }

func (c content) isCSV() bool {
	return c.isText() && !c.is("text/html", "text/xml", "image/svg+xml", "text/rtf")
}

// isHTML reports whether the content can be HTML. isHTML accepts any text, because an HTML fragment
// can look like any other text.
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
// same container format. The check reads the directory of the container. If the head does not
// contain the directory, the check accepts the claimed format.
func compound(kind string) func(content) bool {
	return func(c content) bool {
		return len(c.kind) > 0 && (c.kind[0] == kind || c.kind[0] == "application/x-ole-storage")
	}
}

// office returns a check for one of the newer Office formats. Files of these formats are archives,
// and each format has its own folder in the archive. The check searches the archive for this
// folder.
func office(folder string) func(content) bool {
	return func(c content) bool {
		if len(c.kind) == 0 || c.kind[0] != "application/zip" && !strings.HasPrefix(c.kind[0], ooxml) {
			return false // the library has detected another type of archive, such as JAR
		}
		names := entries(c.head)
		first := slices.IndexFunc(names, func(name string) bool {
			return strings.HasPrefix(name, "word/") || strings.HasPrefix(name, "xl/") || strings.HasPrefix(name, "ppt/")
		})
		return first >= 0 && strings.HasPrefix(names[first], folder) && !slices.Contains(names, "META-INF/MANIFEST.MF")
	}
}

// entries returns the file names that the head of a ZIP archive contains.
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
// order mark, and reports whether the data was UTF-16. If the data has another encoding or contains
// binary characters, textOf returns nil. The argument "cut" is true if the data is only the
// beginning of a file. The last character can then be incomplete.
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
