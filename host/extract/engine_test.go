package extract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/extract"
)

// run extracts the text of a document in this process.
func run(t testing.TB, format string, data []byte, textBytes int) (extract.Text, error) {
	t.Helper()
	e := extract.New() // this engine compiles the library only when it reads a PDF
	if format == "pdf" {
		e = inProcess(t)
	}
	reader := extract.Reader{Engine: e, TextBytes: textBytes}
	defer reader.Close()
	f, ok := extract.Lookup(format)
	if !ok {
		t.Fatalf("unknown format %q", format)
	}
	return reader.Read(t.Context(), admission.Flow{}, f, data)
}

func TestText(t *testing.T) {
	row := func(columns ...string) string {
		return "<w:tr><w:tc>" + strings.Join(columns, "</w:tc><w:tc>") + "</w:tc></w:tr>"
	}
	p := func(text string) string { return "<w:p><w:r><w:t>" + text + "</w:t></w:r></w:p>" }
	type0 := pdfOf(catalogue,
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		streamOf("BT /F1 10 Tf 100 700 Td <00010002> Tj 20 0 Td <0001> Tj 10 0 Td <0002> Tj ET", false),
		"<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>",
		"<< /Type /Font /Subtype /CIDFontType2 /DW 1000 /W [1 [1000] 2 2 1000] >>",
		streamOf("1 begincodespacerange <0000> <FFFF> endcodespacerange 2 beginbfchar <0001> <00E9> <0002> <20AC> endbfchar", true))
	form := pdfOf(catalogue,
		"<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >> >>",
		"<< /Type /Page /Parent 2 0 R /Contents [4 0 R] >>",
		streamOf("q 1 0 0 1 0 100 cm /X Do Q BT /F1 10 Tf 0 50 Td (after) Tj ET", false), helvetica,
		strings.Replace(streamOf("BT /F1 10 Tf (in a form) Tj ET", false), "<<", "<< /Subtype /Form /Matrix [1 0 0 1 5 5]", 1))
	for _, c := range []struct {
		name, format string
		data         []byte
		want         string
	}{
		{"pages", "pdf", pagesOf("BT /F1 12 Tf 72 700 Td (First \\(page\\)) Tj 0 -14 Td (second line) Tj ET", "BT /F1 12 Tf 72 700 Td [(Se) 10 (cond) -300 (page)] TJ ET"),
			"First (page)\nsecond line\fSecond page"},
		{"leading", "pdf", pagesOf("BT /F1 12 Tf 14 TL 72 700 Td (one) Tj T* (two) Tj (three) ' 1 0 (four) \" ET BT /F1 12 Tf 1 0 0 1 300 658 Tm (far) Tj ET"),
			"one\ntwo\nthree\nfour far"},
		{"WinAnsi", "pdf", pagesOf("BT /F1 12 Tf (\\200 caf\\351) Tj ET"), "€ café"},
		{"rotated", "pdf", pagesOf("BT /F1 12 Tf 0 1 -1 0 100 100 Tm (up) Tj 0 -14 Td (the page) Tj ET"), "up\nthe page"},
		{"two bytes", "pdf", type0, "é€é€"},
		{"form", "pdf", form, "in a form\nafter"},
		{"data before and after", "pdf", append(append([]byte("\n\n"), pagesOf("BT /F1 12 Tf (text) Tj ET")...), "\x00\x00 mail footer"...), "text"},
		{"paragraphs", "docx", docxOf(t, p("Hello &amp; bye")+"<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>"), "Hello & bye\na\tb\nc\n"},
		{"table", "docx", docxOf(t, "<w:tbl>"+row(p("a"), p("b1")+p("b2"))+row(p(""), p("d"))+"</w:tbl>"+p("after")), "a\tb1\nb2\n\td\nafter\n"},
		{"table in a table", "docx", docxOf(t, "<w:tbl>"+row("<w:tbl>"+row(p("x"), p("y"))+"</w:tbl>"+p("z"), p("b"))+"</w:tbl>"), "x\ty\nz\tb\n"},
		{"hidden", "docx", docxOf(t, `<w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:instrText>PAGE</w:instrText><mc:AlternateContent><mc:Choice Requires="x"><w:t>new</w:t></mc:Choice><mc:Fallback><w:t>old</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>`), "new\n"},
		{"mark", "txt", []byte("\xEF\xBB\xBFhi\r\n"), "hi\r\n"},
		{"UTF-16, little", "txt", []byte("\xFF\xFEh\x00i\x00\x3D\xD8\x00\xDE"), "hi😀"},
		{"UTF-16, big", "txt", []byte("\xFE\xFF\x00h\x20\xAC"), "h€"},
		{"empty", "txt", nil, ""},
		{"JSON", "json", []byte("{ \"a\": [1, \"<é>\"] }\n"), "{ \"a\": [1, \"<é>\"] }\n"},
	} {
		got, err := run(t, c.format, c.data, 0)
		if err != nil || got.Text != c.want || got.Truncated {
			t.Errorf("%s: Read = %q, %t, %v; want %q", c.name, got.Text, got.Truncated, err, c.want)
		}
	}
}

func TestTextIsBounded(t *testing.T) {
	word := strings.Repeat("é", 600)
	for format, data := range map[string][]byte{
		"txt":  []byte(word),
		"json": []byte(`"` + word + `"`),
		"docx": docxOf(t, strings.Repeat("<w:p><w:r><w:t>"+word+"</w:t></w:r></w:p>", 3)),
		"pdf":  pagesOf(strings.Repeat("BT /F1 12 Tf ("+strings.Repeat("\\351", 200)+") Tj ET 1 0 0 1 0 -14 cm ", 3), "BT /F1 12 Tf (never) Tj ET"),
	} {
		got, err := run(t, format, data, 1001)
		if err != nil || !got.Truncated || len(got.Text) < 998 || len(got.Text) > 1001 || !utf8.ValidString(got.Text) {
			t.Errorf("%s: Read = %d bytes, truncated = %t, %v; want about 1001 bytes and truncated = true", format, len(got.Text), got.Truncated, err)
		}
	}
	got, err := run(t, "txt", []byte(strings.Repeat("a", extract.TextBytes+1)), 0)
	if err != nil || len(got.Text) != extract.TextBytes || !got.Truncated {
		t.Errorf("Read = %d bytes, truncated = %t, %v; want %d bytes and truncated = true", len(got.Text), got.Truncated, err, extract.TextBytes)
	}
}

// unreadable returns documents that have no text. For each document, it also returns the expected
// reason.
func unreadable(t testing.TB) map[string]struct {
	format string
	reason extract.Reason
	data   []byte
} {
	whole := pagesOf("BT /F1 12 Tf (text) Tj ET")
	word := docxOf(t, "<w:p><w:r><w:t>text</w:t></w:r></w:p>")
	encrypted := strings.Replace(string(whole), "/Root", "/ID [(a) (b)] /Encrypt << /Filter /Standard /V 1 /R 2 /O ("+strings.Repeat("o", 32)+") /U ("+strings.Repeat("u", 32)+") /P -4 >> /Root", 1)
	aes256 := strings.Replace(string(whole), "/Root", "/ID [(a) (b)] /Encrypt << /Filter /Standard /V 5 /R 6 /Length 256 >> /Root", 1)
	laughs := `<!DOCTYPE a [<!ENTITY a "ha">` + strings.Repeat(`<!ENTITY b "&a;&a;&a;&a;&a;&a;">`, 9) + `]>`
	many := make([]part, 10_001)
	for i := range many {
		many[i].name = fmt.Sprint(i)
	}
	type none = struct {
		format string
		reason extract.Reason
		data   []byte
	}
	return map[string]none{
		"no text on two pages":      {"pdf", extract.NoText, pagesOf("0 0 10 10 re f", "Q Q")},
		"encrypted":                 {"pdf", extract.Encrypted, []byte(encrypted)},
		"encrypted, newer":          {"pdf", extract.Encrypted, []byte(aes256)},
		"not a PDF":                 {"pdf", extract.Damaged, []byte("hello")},
		"empty PDF":                 {"pdf", extract.Damaged, nil},
		"truncated PDF":             {"pdf", extract.Damaged, whole[:len(whole)/2]},
		"end of a PDF":              {"pdf", extract.Damaged, append([]byte("%PDF-1.4\n"), whole[len(whole)/2:]...)},
		"no pages":                  {"pdf", extract.Damaged, pdfOf(catalogue, "<< /Type /Pages /Kids [] /Count 100000 >>")},
		"pages that are not a tree": {"pdf", extract.Damaged, pdfOf(catalogue, "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 100000 >>")},
		"broken stream":             {"pdf", extract.NoText, pdfOf(catalogue, "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents 4 0 R >>", "<< /Length 20 /Filter /FlateDecode >>\nstream\nno zlib\nendstream")},
		"filter":                    {"pdf", extract.NoText, pdfOf(catalogue, "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents 4 0 R >>", "<< /Length 2 /Filter /Nonsense >>\nstream\n  \nendstream")},
		"nested arrays":             {"pdf", extract.Damaged, pdfOf(catalogue, strings.Repeat("[", 100_000))},
		"not a DOCX":                {"docx", extract.Damaged, []byte("hello")},
		"truncated DOCX":            {"docx", extract.Damaged, word[:len(word)/2]},
		"another archive":           {"docx", extract.Damaged, zipOf(t, part{"a.txt", "hi"})},
		"many files":                {"docx", extract.TooComplex, zipOf(t, many...)},
		"truncated XML":             {"docx", extract.Damaged, docxWith(t, wordBegins+"<w:p>")},
		"billion laughs":            {"docx", extract.Damaged, docxWith(t, laughs+wordBegins+"&b;"+wordEnds)},
		"an entity":                 {"docx", extract.Damaged, docxOf(t, "<w:p><w:r><w:t>&b;</w:t></w:r></w:p>")},
		"nested XML":                {"docx", extract.TooComplex, docxOf(t, strings.Repeat("<w:p>", 1_000_000))},
		"nested XML, skipped":       {"docx", extract.TooComplex, docxOf(t, "<w:pPr>"+strings.Repeat("<w:p>", 1_000_000))},
		"zip bomb":                  {"docx", extract.TooComplex, bombOf(t, 65, 65<<20)},
		"not UTF-8":                 {"txt", extract.UnknownEncoding, []byte("caf\x00\xE9")},
		"not JSON":                  {"json", extract.Damaged, []byte("{a}")},
		"nested JSON":               {"json", extract.Damaged, []byte(strings.Repeat("[", 1_000_000))},
		"JSON, not UTF-8":           {"json", extract.UnknownEncoding, []byte("\"\x00\xE9a\"")},
		"empty JSON":                {"json", extract.Damaged, nil},
	}
}

func TestWithoutText(t *testing.T) {
	for name, c := range unreadable(t) {
		got, err := run(t, c.format, c.data, 0)
		if want := (extract.Text{Reason: c.reason}); err != nil || got != want {
			t.Errorf("%s: Read = %+v, %v; want the reason %s", name, got, err, c.reason)
		}
	}
}

// TestBrokenPage reads a document with a damaged page and an intact page.
func TestBrokenPage(t *testing.T) {
	got, err := run(t, "pdf", pagesOf("BT /F1 12 Tf (before) Tj ET )", "BT /F1 12 Tf (next) Tj ET"), 0)
	if err != nil || got.Text != "before\fnext" {
		t.Errorf("Read = %q, %t, %v; want the text of the intact page", got.Text, got.Truncated, err)
	}
}

func TestRunReportsBadInput(t *testing.T) {
	program, err := inProcess(t).Load(t.Context(), engine.Source{Path: "any.document", Code: []byte("anything")})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	for input, want := range map[string]error{
		`{"format":"exe","data":""}`:     abi.InvalidArgument,
		`{"format":"txt","data":"%"}`:    abi.InvalidArgument,
		`[]`:                             abi.InvalidArgument,
		``:                               abi.InvalidArgument,
		`{"format":"txt","data":"aGk="}`: nil,
		`{"format":"txt","data":"aGkgaGkgaGkgaGkgaGkgaGkgaGkgaGk="}`: abi.OutputLimit,
	} {
		out, err := program.Run(t.Context(), engine.Input{Input: json.RawMessage(input), Limits: engine.Limits{OutputBytes: 40}}, engine.Host{})
		if want == nil && (err != nil || string(out.Output) != `{"text":"hi","truncated":false}`) || want != nil && !errors.Is(err, want) {
			t.Errorf("Run(%s) = %s, %v; want %v", input, out.Output, err, want)
		}
	}
}

// TestContextEnds reads a PDF whose cross-reference table contains a cycle. The run must fail when
// the context ends.
func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	program, err := inProcess(t).Load(t.Context(), engine.Source{})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"pdf", "docx"} {
		_, err := program.Run(ctx, engine.Input{Input: json.RawMessage(`{"format":"` + format + `","data":""}`)}, engine.Host{})
		if !errors.Is(err, abi.Cancelled) {
			t.Errorf("%s: Run = %v; want cancelled", format, err)
		}
	}
}

func TestReaderCloses(t *testing.T) {
	reader := extract.Reader{Engine: extract.New()}
	txt, _ := extract.Lookup("txt")
	if _, err := reader.Read(t.Context(), admission.Flow{}, txt, []byte("hi")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := reader.Read(t.Context(), admission.Flow{}, txt, []byte("hi")); err == nil {
		t.Error("Read of a closed reader = nil; want an error")
	}
	for _, f := range extract.Formats() {
		if _, err := (&extract.Reader{Engine: extract.New()}).Read(t.Context(), admission.Flow{}, f, make([]byte, extract.MaxBytes+1)); f.Extracts && !errors.Is(err, abi.TooLarge) || !f.Extracts && err != nil {
			t.Errorf("%s: Read of a document that is too large = %v; want too_large", f.Name, err)
		}
	}
}
