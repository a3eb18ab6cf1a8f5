package document

import (
	"strings"

	"github.com/ledongthuc/pdf"
)

// pdfFont is what text needs of a font: what its codes mean, and how wide they are in thousandths of its size.
type pdfFont struct {
	encoding pdf.TextEncoding
	wide     bool            // a code has two bytes
	widths   map[int]float64 // by code
	other    float64         // the width of all other codes
}

// unknownWidth is about that of a letter in most fonts.
const unknownWidth = 500.0

// maxPDFWidths bounds the widths that a font names: there are no more codes.
const maxPDFWidths = 1 << 16

// fontsOf returns the fonts of a page, which are those of another where the dictionaries say the same.
func (r *pdfReader) fontsOf(resources pdf.Value) map[string]*pdfFont {
	dictionary := resources.Key("Font")
	if dictionary.Kind() != pdf.Dict {
		return nil
	}
	says := dictionary.String() // with references as such
	if fonts, ok := r.fonts[says]; ok {
		return fonts
	}
	fonts := map[string]*pdfFont{}
	for _, name := range dictionary.Keys() {
		fonts[name] = newPDFFont(dictionary.Key(name))
	}
	r.fonts[says] = fonts
	return fonts
}

func newPDFFont(dictionary pdf.Value) *pdfFont {
	font := pdf.Font{V: dictionary}
	f := &pdfFont{encoding: font.Encoder(), widths: map[int]float64{}, other: unknownWidth}
	if dictionary.Key("Subtype").Name() == "Type0" {
		f.wide = true
		f.readComposite(dictionary.Key("DescendantFonts").Index(0))
		return f
	}
	scale := 1.0
	if dictionary.Key("Subtype").Name() == "Type3" { // in a space of its own, section 9.6.5
		scale = 1000 * dictionary.Key("FontMatrix").Index(0).Float64()
	}
	widths, first := dictionary.Key("Widths"), int(dictionary.Key("FirstChar").Int64())
	for i := range min(widths.Len(), maxPDFWidths) {
		f.widths[first+i] = widths.Index(i).Float64() * scale
	}
	return f
}

// readComposite reads the widths of a composite font, section 9.7.4.3: a code and the widths from there on, or two codes
// and the width of all between them.
func (f *pdfFont) readComposite(font pdf.Value) {
	f.other = 1000
	if width := font.Key("DW"); !width.IsNull() {
		f.other = width.Float64()
	}
	list := font.Key("W")
	for i := 0; i+1 < list.Len() && len(f.widths) < maxPDFWidths; {
		first, next := int(list.Index(i).Int64()), list.Index(i+1)
		if next.Kind() == pdf.Array {
			for j := range min(next.Len(), maxPDFWidths) {
				f.widths[first+j] = next.Index(j).Float64()
			}
			i += 2
			continue
		}
		width := list.Index(i + 2).Float64()
		for code := first; code <= min(int(next.Int64()), first+maxPDFWidths); code++ {
			f.widths[code] = width
		}
		i += 3
	}
}

// decode returns what a string says and how wide it is, with the spaces between letters and words. A nil font is one that
// the page does not have.
func (f *pdfFont) decode(raw string, letter, word, size float64) (text string, width float64) {
	if f == nil {
		return strings.ToValidUTF8(raw, "\uFFFD"), float64(len(raw)) * (unknownWidth/1000*size + letter)
	}
	step := 1
	if f.wide {
		step = 2
	}
	for i := 0; i+step <= len(raw); i += step {
		code := int(raw[i])
		if f.wide {
			code = code<<8 | int(raw[i+1])
		} else if code == ' ' {
			width += word
		}
		w, ok := f.widths[code]
		if !ok {
			w = f.other
		}
		width += w/1000*size + letter
	}
	return strings.ToValidUTF8(f.encoding.Decode(raw), "\uFFFD"), width
}
