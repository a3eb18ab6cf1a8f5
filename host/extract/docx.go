package extract

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// These are the limits for a DOCX. Another limit applies to the size of the text.
const (
	maxDOCXEntries  = 10_000
	maxDOCXInflated = 64 << 20 // the maximum total number of bytes of the parts that are read
	maxDOCXNesting  = 1_000
)

// docxFile is a DOCX archive. A budget limits the total size of the archive's parts.
type docxFile struct {
	archive *zip.Reader
	left    int // the budget: the number of bytes that can still be decompressed
}

// readDOCX reads the headers, the body, footnotes, endnotes and footers of a WordprocessingML
// document (ECMA-376 part 1, section 17).
func readDOCX(ctx context.Context, data []byte, out *sink) error {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return noText(Damaged, err)
	}
	if len(archive.File) > maxDOCXEntries {
		return noText(TooComplex, fmt.Errorf("the archive has more than %d files", maxDOCXEntries))
	}
	f := &docxFile{archive: archive, left: maxDOCXInflated}
	body := f.body()
	if body == nil {
		return noText(Damaged, errors.New("the archive has no word/document.xml"))
	}
	return f.readAll(ctx, body, out)
}

// readAll reads the body and the other parts. If the body is unreadable, readAll returns an error.
// readAll ignores other unreadable parts.
func (f *docxFile) readAll(ctx context.Context, body *zip.File, out *sink) error {
	folder := path.Dir(body.Name)
	d := &docxText{lists: f.lists(folder), notes: map[string]int{}}
	f.repeated(ctx, d, folder+"/header*.xml", out)
	if err := f.read(ctx, body, d, out); err != nil {
		return err
	}
	for _, name := range []string{"/footnotes*.xml", "/endnotes*.xml"} {
		for _, part := range f.matching(folder + name) {
			startLine(out)
			out.truncated = f.read(ctx, part, d, out) != nil || out.truncated
		}
	}
	startLine(out)
	f.repeated(ctx, d, folder+"/footer*.xml", out)
	return nil
}

// startLine starts a new line if the current line is not empty.
func startLine(out *sink) {
	if out.last() != '\n' {
		out.write("\n")
	}
}

// repeated reads the headers or the footers. Most sections have the same headers and footers.
// Therefore the method writes a text only once, even if several parts contain it.
func (f *docxFile) repeated(ctx context.Context, d *docxText, pattern string, out *sink) {
	var seen []string
	for _, part := range f.matching(pattern) {
		one := &sink{limit: out.limit}
		if f.read(ctx, part, d, one) != nil || one.truncated {
			out.truncated = true
		}
		text := strings.TrimSpace(string(one.text))
		if text == "" || slices.Contains(seen, text) {
			continue
		}
		seen = append(seen, text)
		out.write(text + "\n")
	}
}

// matching returns the parts whose names match a pattern. The parts are sorted by name.
func (f *docxFile) matching(pattern string) []*zip.File {
	var parts []*zip.File
	for _, part := range f.archive.File {
		if ok, _ := path.Match(pattern, part.Name); ok {
			parts = append(parts, part)
		}
	}
	slices.SortFunc(parts, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	return parts
}

// body returns the part that contains the body of the document. If no such part exists, the
// method returns nil. The name of the part is usually document.xml. Word for the web uses the name
// document2.xml.
func (f *docxFile) body() *zip.File {
	if parts := f.matching("word/document.xml"); len(parts) > 0 {
		return parts[0]
	}
	if parts := f.matching("word/document[0-9].xml"); len(parts) > 0 {
		return parts[0]
	}
	return nil
}

var errInflates = fmt.Errorf("the decompressed archive exceeds %d bytes", maxDOCXInflated)

// open opens a part. Each byte that the caller reads from the part reduces the budget.
func (f *docxFile) open(part *zip.File) (io.ReadCloser, error) {
	if part.UncompressedSize64 > uint64(f.left) { // archive/zip and inflated return an error if a part is larger than declared
		return nil, noText(TooComplex, errInflates)
	}
	r, err := part.Open()
	if err != nil {
		return nil, noText(Damaged, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{&inflated{r: r, left: &f.left}, r}, nil
}

// read reads a part and writes its text to the output.
func (f *docxFile) read(ctx context.Context, part *zip.File, d *docxText, out *sink) error {
	r, err := f.open(part)
	if err != nil {
		return err
	}
	defer r.Close()
	w := docx{docxText: d, sink: out, xml: xml.NewDecoder(r)}
	if err := w.read(ctx); err != nil {
		if errors.Is(err, errInflates) || errors.Is(err, errNested) {
			return noText(TooComplex, err)
		}
		return noText(Damaged, err)
	}
	return nil
}

// inflated is a reader that subtracts the number of bytes that it reads from a budget.
type inflated struct {
	r    io.Reader
	left *int
}

func (i *inflated) Read(b []byte) (int, error) {
	if *i.left <= 0 {
		return 0, errInflates
	}
	n, err := i.r.Read(b[:min(len(b), *i.left)])
	*i.left -= n
	return n, err
}
