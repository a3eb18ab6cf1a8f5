package extract

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// These are the XML namespaces for text, and the namespace for alternative content that older
// programs read.
const (
	wordSpace       = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
	wordStrictSpace = "http://purl.oclc.org/ooxml/wordprocessingml/main"
	mathSpace       = "http://schemas.openxmlformats.org/officeDocument/2006/math"
	mathStrictSpace = "http://purl.oclc.org/ooxml/officeDocument/math"
	fallbackSpace   = "http://schemas.openxmlformats.org/markup-compatibility/2006"
)

var errNested = fmt.Errorf("XML elements are nested more than %d levels deep", maxDOCXNesting)

// docxText contains the text of a document. All parts of the document share one docxText.
type docxText struct {
	lists *docxLists
	notes map[string]int // the numbers of footnotes and endnotes, by kind and id
}

// docx converts a part to text. Each paragraph and each row of a table becomes a line. The cells of
// a row are separated by tabs.
type docx struct {
	*docxText
	*sink
	xml     *xml.Decoder
	depth   int
	inText  bool
	columns []int         // the number of cells in the current row, for each enclosing table
	pending bool          // true if a line in a cell has ended; another line can follow
	item    docxParagraph // the properties of the current paragraph
	mark    string        // the mark of a list item whose text has not begun yet
	formula *formula      // the equation in progress
	display int           // the number of the next equation in a paragraph of equations, or 0
}

func (w *docx) read(ctx context.Context) error {
	defer w.endFormula() // a part can end within an equation
	for ctx.Err() == nil && !w.truncated {
		token, err := w.xml.Token() // reports unclosed elements
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			err = w.start(t)
		case xml.EndElement:
			w.end(t.Name)
		case xml.CharData:
			if w.inText {
				w.put(string(t))
			}
		case xml.Directive: // for example a DTD, which ECMA-376 part 2 section 6.2.5 forbids
			return errors.New("the XML has a DTD, which DOCX forbids")
		}
		if err != nil {
			return err
		}
		if f := w.formula; f != nil && len(f.tex) > f.limit {
			w.endFormula()
		}
	}
	return nil
}

func (w *docx) start(t xml.StartElement) error {
	if t.Name.Space == fallbackSpace && t.Name.Local == "Fallback" {
		return w.skip()
	}
	if w.depth++; w.depth > maxDOCXNesting {
		return errNested
	}
	switch t.Name.Space {
	case wordSpace, wordStrictSpace:
		return w.startWord(t)
	case mathSpace, mathStrictSpace:
		return w.startMath(t)
	default:
		if alt := attribute(t, "descr"); t.Name.Local == "docPr" && alt != "" { // the description of an image (section 20.4.2.5)
			w.put("[" + alt + "]")
		}
	}
	return nil
}

func (w *docx) startWord(t xml.StartElement) error {
	switch t.Name.Local {
	case "t":
		w.inText = true
	case "tab", "ptab":
		w.put("\t")
	case "br", "cr":
		w.put("\n")
	case "noBreakHyphen":
		w.put("-")
	case "p":
		w.mark, w.item = "", docxParagraph{}
	case "tbl":
		w.flush()
		w.columns = append(w.columns, 0)
	case "tr":
		if n := len(w.columns); n > 0 {
			w.columns[n-1] = 0
		}
	case "tc":
		w.startCell()
	case "txbxContent": // nested paragraphs
		w.flush()
		startLine(w.sink)
	case "footnoteReference", "endnoteReference":
		w.put(w.reference(t))
	case "footnote", "endnote":
		w.startNote(t)
	case "pPr":
		w.depth--
		return w.paragraph()
	case "del":
		if w.formula != nil { // skip deleted text, because deleted text in an equation uses the elements of other text
			w.depth--
			return w.skip()
		}
	case "tblPr", "moveFrom": // skip properties and the original of moved text
		w.depth--
		return w.skip()
	}
	return nil
}

// attribute returns the value of the attribute with a given name. The attribute can be in any
// namespace.
func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// reference returns the number of the note to which a reference in the text refers.
func (w *docx) reference(t xml.StartElement) string {
	key := t.Name.Local[:len(t.Name.Local)-len("Reference")] + attribute(t, "id")
	if w.notes[key] == 0 {
		w.notes[key] = len(w.notes) + 1
	}
	return "[" + strconv.Itoa(w.notes[key]) + "]"
}

// startNote begins a note. If the text refers to the note, startNote writes the note's number.
func (w *docx) startNote(t xml.StartElement) {
	if n := w.notes[t.Name.Local+attribute(t, "id")]; n > 0 {
		w.put("[" + strconv.Itoa(n) + "] ")
	}
}

// paragraph reads the properties of a paragraph.
func (w *docx) paragraph() error {
	err := w.skipWith(func(t xml.StartElement) { w.item.take(t) })
	w.mark = w.lists.mark(w.item)
	return err
}

// startCell begins a cell. If there is a previous cell, startCell writes a separator, unless the
// text of the previous cell ends with a line break.
func (w *docx) startCell() {
	n := len(w.columns)
	if n == 0 {
		return
	}
	if w.columns[n-1]++; w.columns[n-1] > 1 {
		w.pending = false
		w.write("\t")
		return
	}
	w.flush()
}

func (w *docx) end(name xml.Name) {
	w.depth--
	if name.Local == "t" {
		w.inText = false
	}
	switch name.Space {
	case mathSpace, mathStrictSpace:
		w.endMath(name.Local)
		return
	case wordSpace, wordStrictSpace:
	default:
		return
	}
	n := len(w.columns)
	switch name.Local {
	case "p":
		w.endParagraph()
	case "tr":
		if w.pending = n > 1; !w.pending {
			w.write("\n")
		}
	case "tbl":
		if n > 0 {
			w.columns = w.columns[:n-1]
		}
	}
}

// endParagraph ends the line of a paragraph. If the paragraph is only the drop cap of the next
// paragraph, the line does not end.
func (w *docx) endParagraph() {
	initial := w.item.initial
	if w.item = (docxParagraph{}); initial {
		return
	}
	if w.pending = len(w.columns) > 0; !w.pending {
		w.write("\n")
	}
}

// put writes text to the current equation. If no current equation exists, the method writes the
// text to the document. If the text is the beginning of a list item, the method first writes the
// item's mark.
func (w *docx) put(text string) {
	if w.formula != nil {
		w.formula.write(text)
		return
	}
	w.flush()
	if w.mark != "" {
		text, w.mark = w.mark+text, ""
	}
	w.write(text)
}

// flush writes the end of a line in a cell if it is pending.
func (w *docx) flush() {
	if w.pending {
		w.pending = false
		w.write("\n")
	}
}

func (w *docx) skip() error { return w.skipWith(func(xml.StartElement) {}) }

// skipWith skips the open element. skipWith calls a function for each nested element. Unlike the
// decoder's method Skip, skipWith is not recursive.
func (w *docx) skipWith(each func(xml.StartElement)) error {
	for depth := 1; depth > 0; {
		token, err := w.xml.Token()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; w.depth+depth > maxDOCXNesting {
				return errNested
			}
			each(t)
		case xml.EndElement:
			depth--
		}
	}
	return nil
}
