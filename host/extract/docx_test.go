package extract_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/extract"
)

// FuzzDOCX reads arbitrary archives, and valid archives that contain arbitrary bodies.
func FuzzDOCX(f *testing.F) {
	f.Add(docxOf(f, "<w:p/>"), "<w:p><w:r><w:t>a</w:t></w:r></w:p>")
	f.Add([]byte("PK\x03\x04"), "<w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc/></w:tr></w:tbl><w:tc/></w:tr>")
	f.Add([]byte{}, "<w:pPr><w:tab/></w:pPr><mc:Fallback></mc:Fallback><!DOCTYPE a>&lt;")
	f.Add([]byte{}, "<m:oMath><m:nary><m:naryPr><m:chr m:val='x'/></m:naryPr><m:sub/><m:e><m:d><m:e><m:r><m:t>\\</m:t></m:r></m:e></m:d></m:e></m:nary></m:oMath>")
	f.Fuzz(func(t *testing.T, archive []byte, body string) {
		for _, data := range [][]byte{archive, docxOf(t, body)} {
			text, err := run(t, "docx", data, 1000)
			if err != nil || (text.Text == "") != (text.Reason != "") {
				t.Errorf("Read = %+v, %v; want text or a reason", text, err)
			}
			if len(text.Text) > 1000 || !utf8.ValidString(text.Text) {
				t.Errorf("Read = %q", text.Text)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	line := "BT /F1 12 Tf 72 700 Td [(Some) -300 (words) -300 (of) -300 (a) -300 (line)] TJ ET "
	for _, c := range []struct {
		name, format string
		data         []byte
	}{
		{"txt", "txt", []byte(strings.Repeat("some words of a line\n", 5000))},
		{"json", "json", []byte(`["` + strings.Repeat("some words of a line ", 5000) + `"]`)},
		{"docx", "docx", docxOf(b, strings.Repeat("<w:p><w:r><w:t>some words of a line</w:t></w:r></w:p>", 5000))},
		{"pdf", "pdf", pagesOf(strings.Repeat(line, 2500), strings.Repeat(line, 2500))},
	} {
		for name, reader := range map[string]*extract.Reader{"in workers": inWorkers(b), "in process": {Engine: inProcess(b)}} {
			b.Run(c.name+" "+name, func(b *testing.B) {
				b.SetBytes(int64(len(c.data)))
				for b.Loop() {
					if _, err := reader.Read(b.Context(), admission.Flow{}, lookup(b, c.format), c.data); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
