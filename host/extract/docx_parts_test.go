package extract_test

import (
	"strings"
	"testing"
)

// wordPart returns a part that declares the namespaces of text.
func wordPart(root, content string) string {
	return `<?xml version="1.0"?><w:` + root + ` xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"` +
		` xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"` +
		` xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">` + content + `</w:` + root + `>`
}

func paragraph(text string) string { return "<w:p><w:r><w:t>" + text + "</w:t></w:r></w:p>" }

// docxParts returns a DOCX with the given body and other parts.
func docxParts(t testing.TB, body string, parts ...part) []byte {
	t.Helper()
	all := []part{{"[Content_Types].xml", "<Types/>"}, {"word/document.xml", wordPart("document", "<w:body>"+body+"</w:body>")}}
	for _, p := range parts {
		all = append(all, part{"word/" + p.name, p.content})
	}
	return zipOf(t, all...)
}

const numbering = `<w:abstractNum w:abstractNumId="7">` +
	`<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>` +
	`<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum>` +
	`<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>` +
	`<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>` +
	`<w:num w:numId="3"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>`

func item(properties, text string) string {
	return "<w:p><w:pPr>" + properties + "</w:pPr><w:r><w:t>" + text + "</w:t></w:r></w:p>"
}

func inList(id, level, text string) string {
	return item(`<w:numPr><w:ilvl w:val="`+level+`"/><w:numId w:val="`+id+`"/></w:numPr>`, text)
}

func TestPartsOfDOCX(t *testing.T) {
	table := func(rows ...string) string { return "<w:tbl>" + strings.Join(rows, "") + "</w:tbl>" }
	row := func(columns ...string) string {
		return "<w:tr><w:tc>" + strings.Join(columns, "</w:tc><w:tc>") + "</w:tc></w:tr>"
	}
	reference := func(kind, id string) string { return `<w:r><w:` + kind + `Reference w:id="` + id + `"/></w:r>` }
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"headers and footers", docxParts(t, paragraph("Body"),
			part{"header1.xml", wordPart("hdr", paragraph("Letterhead"))}, part{"header2.xml", wordPart("hdr", paragraph("Letterhead"))},
			part{"header3.xml", wordPart("hdr", "<w:p/>")}, part{"footer1.xml", wordPart("ftr", paragraph("Page 1"))}),
			"Letterhead\nBody\nPage 1\n"},
		{"notes", docxParts(t, "<w:p><w:r><w:t>One</w:t></w:r>"+reference("footnote", "2")+"<w:r><w:t>, two</w:t></w:r>"+reference("endnote", "2")+"</w:p>",
			part{"footnotes.xml", wordPart("footnotes", `<w:footnote w:type="separator" w:id="-1"><w:p/></w:footnote><w:footnote w:id="2">`+paragraph("below")+`</w:footnote>`)},
			part{"endnotes.xml", wordPart("endnotes", `<w:endnote w:id="2">`+paragraph("at the end")+`</w:endnote>`)}),
			"One[1], two[2]\n\n[1] below\n[2] at the end\n"},
		{"table in a cell", docxParts(t, table(row(paragraph("Before")+table(row(paragraph("Table")), row(paragraph("Below")))+paragraph("After"), paragraph("b")))),
			"Before\nTable\nBelow\nAfter\tb\n"},
		{"lists", docxParts(t, inList("1", "0", "first")+inList("1", "1", "inner")+inList("1", "1", "inner too")+inList("1", "0", "second")+inList("2", "0", "dot")+inList("3", "0", "from five")+item("", "none"),
			part{"numbering.xml", wordPart("numbering", numbering)}),
			"1. first\n1.a) inner\n1.b) inner too\n2. second\n- dot\n5. from five\nnone\n"},
		{"a list by its style", docxParts(t, item(`<w:pStyle w:val="Sub"/>`, "styled"),
			part{"numbering.xml", wordPart("numbering", numbering)},
			part{"styles.xml", wordPart("styles", `<w:style w:styleId="Base"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style><w:style w:styleId="Sub"><w:basedOn w:val="Base"/></w:style>`)}),
			"1. styled\n"},
		{"a drop cap", docxParts(t, item(`<w:framePr w:dropCap="drop" w:lines="3"/>`, "O")+paragraph("nce upon a time")), "Once upon a time\n"},
		{"the description of an image", docxParts(t, `<w:p><w:r><w:t>See </w:t><w:drawing><wp:docPr id="1" descr="a red house"/></w:drawing></w:r></w:p>`), "See [a red house]\n"},
		{"a text box", docxParts(t, `<w:p><w:r><w:t>Around</w:t><w:txbxContent>`+paragraph("inside")+`</w:txbxContent></w:r></w:p>`), "Around\ninside\n\n"},
		{"moved text", docxParts(t, `<w:p><w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom><w:r><w:t>here</w:t></w:r></w:p>`), "here\n"},
		{"a formula", docxParts(t, `<w:p><m:oMath><m:r><m:t>x+1</m:t></m:r></m:oMath></w:p>`), "x+1\n"},
		{"damaged notes", docxParts(t, paragraph("Body"), part{"footnotes.xml", "<w:footnotes"}), "Body\n"},
	} {
		got, err := run(t, "docx", c.data, 0)
		if err != nil || got.Text != c.want || got.Truncated != (c.name == "damaged notes") {
			t.Errorf("%s: Read = %q, %t, %q, %v; want %q", c.name, got.Text, got.Truncated, got.Reason, err, c.want)
		}
	}
}
