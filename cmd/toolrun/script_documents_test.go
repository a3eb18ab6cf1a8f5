package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// documents writes two files: a PDF file with two pages, and a DOCX file. Usage: documents FILE.pdf
// FILE.docx.
func documents(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: documents file.pdf file.docx")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), pdfPages("the first page of the report", "the second page of the report"), 0o600))
	content, err := docxText("The text of a page.")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), content, 0o600))
}

// pdfPages returns a PDF. Each page of the PDF repeats a line of text.
func pdfPages(lines ...string) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"}
	var kids []string
	for _, line := range lines {
		n := len(objects) + 1
		kids = append(kids, fmt.Sprintf("%d 0 R", n))
		stream := "BT /F1 12 Tf 14 TL 72 720 Td " + strings.Repeat("("+line+") Tj T* ", 30) + "ET"
		objects = append(objects, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /Contents %d 0 R >>", n+1), fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(stream), stream))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> >>", strings.Join(kids, " "), len(lines))
	var file strings.Builder
	file.WriteString("%PDF-1.4\n")
	offsets := make([]int, len(objects))
	for i, object := range objects {
		offsets[i] = file.Len()
		fmt.Fprintf(&file, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	table := file.Len()
	fmt.Fprintf(&file, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&file, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&file, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table)
	return []byte(file.String())
}

// docxText returns a DOCX with one paragraph.
func docxText(text string) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, part := range [][2]string{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`},
		{"_rels/.rels", "<Relationships/>"},
		{"word/document.xml", `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>` + text + `</w:t></w:r></w:p></w:body></w:document>`},
	} {
		f, err := w.Create(part[0])
		if err != nil {
			return nil, err
		}
		if _, err := f.Write([]byte(part[1])); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
