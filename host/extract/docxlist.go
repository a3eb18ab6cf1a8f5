package extract

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// maxDOCXLevels is the maximum number of levels of a list (section 17.9.6).
const maxDOCXLevels = 9

// maxDOCXMark is the maximum number of bytes of the text in a list item's mark, apart from the
// numbers.
const maxDOCXMark = 100

// docxParagraph contains the properties of a paragraph that affect its text.
type docxParagraph struct {
	style string
	list  string // "" selects the list of the style; "0" means no list
	level int

	initial bool // the paragraph is the drop cap of the next paragraph
}

// take stores the property that an XML element contains.
func (p *docxParagraph) take(t xml.StartElement) {
	switch t.Name.Local {
	case "framePr":
		p.initial = attribute(t, "dropCap") != ""
	case "pStyle":
		p.style = attribute(t, "val")
	case "numId":
		p.list = attribute(t, "val")
	case "ilvl":
		p.level, _ = strconv.Atoi(attribute(t, "val"))
	}
}

// docxLevel defines the marks of the items at one level (section 17.9).
type docxLevel struct {
	Level  int   `xml:"ilvl,attr"`
	Start  docxN `xml:"start"`
	Format docxS `xml:"numFmt"`
	Text   docxS `xml:"lvlText"`
}

type docxN struct {
	Value *int `xml:"val,attr"`
}

type docxS struct {
	Value string `xml:"val,attr"`
}

// docxNumbering is the content of the part numbering.xml.
type docxNumbering struct {
	Abstract []struct {
		ID     string      `xml:"abstractNumId,attr"`
		Levels []docxLevel `xml:"lvl"`
	} `xml:"abstractNum"`
	Lists []struct {
		ID        string `xml:"numId,attr"`
		Abstract  docxS  `xml:"abstractNumId"`
		Overrides []struct {
			Level int   `xml:"ilvl,attr"`
			Start docxN `xml:"startOverride"`
		} `xml:"lvlOverride"`
	} `xml:"num"`
}

// docxStyles is the content of the part styles.xml.
type docxStyles struct {
	Styles []struct {
		ID    string `xml:"styleId,attr"`
		Based docxS  `xml:"basedOn"`
		List  docxS  `xml:"pPr>numPr>numId"`
		Level docxN  `xml:"pPr>numPr>ilvl"`
	} `xml:"style"`
}

// docxList is a list. The items of a list are not necessarily adjacent.
type docxList struct {
	levels [maxDOCXLevels]docxLevel
	counts *[maxDOCXLevels]int // all lists with the same abstract definition share the counters
	resets map[int]int         // maps a level to its first number; applied entries are removed
}

// docxLists numbers the items of lists. A nil *docxLists contains no lists.
type docxLists struct {
	lists  map[string]*docxList
	styles map[string]docxParagraph
}

// lists reads the definitions of lists. If the definitions are unreadable, list items get no marks.
func (f *docxFile) lists(folder string) *docxLists {
	var numbering docxNumbering
	if !f.unmarshal(folder+"/numbering.xml", &numbering) {
		return nil
	}
	l := &docxLists{lists: map[string]*docxList{}, styles: map[string]docxParagraph{}}
	l.define(numbering)
	var styles docxStyles
	if f.unmarshal(folder+"/styles.xml", &styles) {
		l.style(styles)
	}
	return l
}

func (f *docxFile) unmarshal(name string, to any) bool {
	parts := f.matching(name)
	if len(parts) == 0 {
		return false
	}
	r, err := f.open(parts[0])
	if err != nil {
		return false
	}
	defer r.Close()
	return xml.NewDecoder(r).Decode(to) == nil
}

func (l *docxLists) define(n docxNumbering) {
	abstract := map[string]*docxList{}
	for _, a := range n.Abstract {
		list := &docxList{counts: new([maxDOCXLevels]int)}
		for _, level := range a.Levels {
			if level.Level >= 0 && level.Level < maxDOCXLevels {
				list.levels[level.Level] = level
			}
		}
		abstract[a.ID] = list
	}
	for _, num := range n.Lists {
		base := abstract[num.Abstract.Value]
		if base == nil {
			continue
		}
		list := *base
		list.resets = map[int]int{}
		for _, o := range num.Overrides {
			if o.Start.Value != nil {
				list.resets[o.Level] = *o.Start.Value
			}
		}
		l.lists[num.ID] = &list
	}
}

// style determines the list of each style. If a style has no list, the style inherits the list of
// its base style.
func (l *docxLists) style(s docxStyles) {
	based := map[string]string{}
	for _, style := range s.Styles {
		p := docxParagraph{list: style.List.Value}
		if style.Level.Value != nil {
			p.level = *style.Level.Value
		}
		l.styles[style.ID], based[style.ID] = p, style.Based.Value
	}
	for id := range l.styles {
		const deepest = 20
		at := id
		for range deepest {
			if p := l.styles[at]; p.list != "" || based[at] == "" {
				l.styles[id] = p
				break
			}
			at = based[at]
		}
	}
}

// mark returns the mark of a list item. For any other paragraph, the method returns "".
func (l *docxLists) mark(p docxParagraph) string {
	if l == nil {
		return ""
	}
	if p.list == "" {
		p.list, p.level = l.styles[p.style].list, max(p.level, l.styles[p.style].level)
	}
	list := l.lists[p.list]
	if list == nil || p.level < 0 || p.level >= maxDOCXLevels {
		return ""
	}
	level := list.levels[p.level]
	switch level.Format.Value {
	case "", "none":
		return ""
	case "bullet":
		return "- "
	}
	list.count(p.level)
	text := level.Text.Value
	if len(text) > maxDOCXMark {
		return ""
	}
	for i := range maxDOCXLevels {
		text = strings.ReplaceAll(text, "%"+strconv.Itoa(i+1), list.number(i))
	}
	if text == "" {
		return ""
	}
	return text + " "
}

// count increments the number of a level and resets the numbers of the deeper levels.
func (l *docxList) count(level int) {
	if start, ok := l.resets[level]; ok {
		delete(l.resets, level)
		l.counts[level] = start - 1
	} else if l.counts[level] == 0 {
		l.counts[level] = l.start(level) - 1
	}
	l.counts[level]++
	clear(l.counts[level+1:])
}

func (l *docxList) start(level int) int {
	if v := l.levels[level].Start.Value; v != nil {
		return *v
	}
	return 1
}

// number returns the number of an item as text. The list determines the format of the text.
func (l *docxList) number(level int) string {
	n := l.counts[level]
	if n == 0 {
		n = l.start(level)
	}
	switch l.levels[level].Format.Value {
	case "lowerLetter":
		return letters(n, 'a')
	case "upperLetter":
		return letters(n, 'A')
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "upperRoman":
		return roman(n)
	case "decimalZero":
		if n >= 0 && n < 10 {
			return "0" + strconv.Itoa(n)
		}
	}
	return strconv.Itoa(n)
}

// letters returns the n-th label of the sequence a, b, ..., z, aa, bb, ..., zz, and so on.
func letters(n int, first rune) string {
	const limit, alphabet = 780, 26
	if n < 1 || n > limit {
		return strconv.Itoa(n)
	}
	return strings.Repeat(string(first+rune((n-1)%alphabet)), (n-1)/alphabet+1)
}

func roman(n int) string {
	const limit = 3999
	if n < 1 || n > limit {
		return strconv.Itoa(n)
	}
	var text strings.Builder
	for _, digit := range []struct {
		value int
		text  string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for n >= digit.value {
			n -= digit.value
			text.WriteString(digit.text)
		}
	}
	return text.String()
}
