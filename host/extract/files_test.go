package extract_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"
)

// pdfOf returns a PDF that contains the given objects. The numbers of the objects begin at 1. The
// first object is the catalog.
func pdfOf(objects ...string) []byte {
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

const (
	catalogue = "<< /Type /Catalog /Pages 2 0 R >>"
	helvetica = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
)

// pagesOf returns a PDF. Each argument is the content of a page. Every second page is compressed.
func pagesOf(contents ...string) []byte {
	objects := []string{catalogue, "", helvetica}
	var kids []string
	for i, content := range contents {
		n := len(objects) + 1
		kids = append(kids, fmt.Sprintf("%d 0 R", n))
		page := fmt.Sprintf("<< /Type /Page /Parent 2 0 R /Contents %d 0 R >>", n+1)
		objects = append(objects, page, streamOf(content, i%2 == 1))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d /Resources << /Font << /F1 3 0 R >> >> >>", strings.Join(kids, " "), len(contents))
	return pdfOf(objects...)
}

func streamOf(content string, compressed bool) string {
	filter := ""
	if compressed {
		content, filter = deflated(content), "/Filter /FlateDecode "
	}
	return fmt.Sprintf("<< /Length %d %s>>\nstream\n%s\nendstream", len(content), filter, content)
}

func deflated(content string) string {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = w.Write([]byte(content)) // writing to a buffer never fails
	_ = w.Close()
	return out.String()
}

// part is a file in an archive.
type part struct{ name, content string }

func zipOf(t testing.TB, parts ...part) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, p := range parts {
		f, err := w.Create(p.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(p.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const (
	wordBegins = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><w:body>`
	wordEnds   = `</w:body></w:document>`
)

// docxOf returns a DOCX with the given body.
func docxOf(t testing.TB, body string) []byte { return docxWith(t, wordBegins+body+wordEnds) }

func docxWith(t testing.TB, document string) []byte {
	return zipOf(t, part{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`},
		part{"_rels/.rels", "<Relationships/>"}, part{"word/document.xml", document})
}

// bombOf returns a DOCX. The decompressed body has the given number of MiB, but the archive
// declares another size.
func bombOf(t testing.TB, mebibytes int, says uint64) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	deflate := func(text string) string {
		packed.Reset()
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil { // aligned to a byte, so that the block can be repeated
			t.Fatal(err)
		}
		return packed.String()
	}
	begins, spaces := deflate(wordBegins), strings.Repeat(" ", 1<<20)
	body := begins + deflate(spaces) + strings.Repeat(deflate(spaces), mebibytes-1) // each block refers to the previous block
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	f, err := archive.CreateRaw(&zip.FileHeader{Name: "word/document.xml", Method: zip.Deflate, CompressedSize64: uint64(len(body)), UncompressedSize64: says})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
