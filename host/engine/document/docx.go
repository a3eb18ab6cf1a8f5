package document

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/toolrun/toolrun/abi"
)

// What a DOCX may hold. Its text is bounded by the sink, and markup alone is worth little.
const (
	maxDOCXEntries  = 10_000
	maxDOCXInflated = 64 << 20
	maxDOCXNesting  = 1_000
)

// readDOCX reads the body of a WordprocessingML document, ECMA-376 part 1, section 17.
func readDOCX(ctx context.Context, data []byte, out *sink) error {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return badDOCX(err)
	}
	if len(archive.File) > maxDOCXEntries {
		return badDOCX(fmt.Errorf("it has more than %d files", maxDOCXEntries))
	}
	file := mainPart(archive)
	if file == nil {
		return badDOCX(errors.New("it has no word/document.xml"))
	}
	if file.UncompressedSize64 > maxDOCXInflated { // one that says less is stopped by archive/zip, and below
		return badDOCX(errInflates)
	}
	part, err := file.Open()
	if err != nil {
		return badDOCX(err)
	}
	defer part.Close()
	w := docx{sink: out, xml: xml.NewDecoder(&inflated{r: part, left: maxDOCXInflated})}
	if err := w.read(ctx); err != nil {
		return badDOCX(err)
	}
	return nil
}

func badDOCX(err error) error {
	return abi.Faultf(abi.InvalidArgument, "the DOCX cannot be read: %s", printable(err.Error()))
}

// mainPart is the file with the body. Word on the web names it document2.xml.
func mainPart(archive *zip.Reader) (part *zip.File) {
	for _, f := range archive.File {
		if f.Name == "word/document.xml" {
			return f
		}
		if ok, _ := path.Match("word/document[0-9].xml", f.Name); ok && part == nil {
			part = f
		}
	}
	return part
}

var errInflates = fmt.Errorf("it inflates to more than %d bytes", maxDOCXInflated)

// inflated reads so much and no more.
type inflated struct {
	r    io.Reader
	left int
}

func (i *inflated) Read(b []byte) (int, error) {
	if i.left <= 0 {
		return 0, errInflates
	}
	n, err := i.r.Read(b[:min(len(b), i.left)])
	i.left -= n
	return n, err
}

// The namespaces of the body, and of what is there twice for older readers.
const (
	wordSpace       = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
	wordStrictSpace = "http://purl.oclc.org/ooxml/wordprocessingml/main"
	fallbackSpace   = "http://schemas.openxmlformats.org/markup-compatibility/2006"
)

// docx writes a body as text: a line for each paragraph and each row of a table, tabs between cells.
type docx struct {
	*sink
	xml    *xml.Decoder
	depth  int
	inText bool
	cells  []int // of the row under way, for each table around
	broken bool  // a paragraph in a cell has ended, which another may follow
}

func (w *docx) read(ctx context.Context) error {
	for ctx.Err() == nil && !w.truncated {
		token, err := w.xml.Token() // which reports elements that are not closed
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			err = w.start(t.Name)
		case xml.EndElement:
			w.end(t.Name)
		case xml.CharData:
			if w.inText {
				w.put(string(t))
			}
		case xml.Directive: // such as a DTD with its entities, ECMA-376 part 2 section 6.2.5 forbids it
			return errors.New("it has a DTD, which no DOCX may have")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *docx) start(name xml.Name) error {
	if name.Space == fallbackSpace && name.Local == "Fallback" {
		return w.skip()
	}
	if w.depth++; w.depth > maxDOCXNesting {
		return fmt.Errorf("its elements are nested deeper than %d", maxDOCXNesting)
	}
	if name.Space != wordSpace && name.Space != wordStrictSpace {
		return nil
	}
	switch name.Local {
	case "t":
		w.inText = true
	case "tab":
		w.put("\t")
	case "br", "cr":
		w.put("\n")
	case "noBreakHyphen":
		w.put("-")
	case "tbl":
		w.cells = append(w.cells, 0)
	case "tr":
		if n := len(w.cells); n > 0 {
			w.cells[n-1] = 0
		}
	case "tc":
		w.startCell()
	case "pPr", "tblPr": // where tab says how wide one is
		w.depth--
		return w.skip()
	}
	return nil
}

func (w *docx) startCell() {
	n := len(w.cells)
	if n == 0 {
		return
	}
	if w.cells[n-1]++; w.cells[n-1] > 1 {
		w.write("\t")
	}
	w.broken = false
}

func (w *docx) end(name xml.Name) {
	w.depth--
	if name.Space != wordSpace && name.Space != wordStrictSpace {
		return
	}
	n := len(w.cells)
	switch name.Local {
	case "t":
		w.inText = false
	case "p":
		if w.broken = n > 0; !w.broken {
			w.write("\n")
		}
	case "tr":
		if w.broken = n > 1; !w.broken {
			w.write("\n")
		}
	case "tbl":
		if n > 0 {
			w.cells = w.cells[:n-1]
		}
	}
}

// put writes text, on a line of its own where a paragraph of the same cell came before.
func (w *docx) put(text string) {
	if w.broken {
		w.broken = false
		w.write("\n")
	}
	w.write(text)
}

// skip skips the element that was begun. Unlike the decoder's own it takes no stack for what is nested.
func (w *docx) skip() error {
	for depth := 1; depth > 0; {
		token, err := w.xml.Token()
		if err != nil {
			return err
		}
		switch token.(type) {
		case xml.StartElement:
			if depth++; w.depth+depth > maxDOCXNesting {
				return fmt.Errorf("its elements are nested deeper than %d", maxDOCXNesting)
			}
		case xml.EndElement:
			depth--
		}
	}
	return nil
}
