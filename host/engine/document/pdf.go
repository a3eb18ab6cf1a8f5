package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/ledongthuc/pdf"

	"github.com/toolrun/toolrun/abi"
)

// What a PDF may hold.
const (
	maxPDFNodes = 100_000  // pages, and groups of them
	maxPDFDepth = 64       // of groups of pages
	maxPDFForms = 10       // that show one another
	maxPDFPage  = 64 << 20 // bytes of content of a page, inflated, each time it is shown
)

// pdfReader reads the text of a PDF, ISO 32000-1.
type pdfReader struct {
	ctx    context.Context // of the one call that it lives in
	out    *sink
	nodes  int
	pages  int
	broken any                            // why the first page that was not read to its end was not
	fonts  map[string]map[string]*pdfFont // by what a dictionary of fonts says, and by the name in it
}

// errEnough ends the interpreter of a page, which only a panic does.
var errEnough = errors.New("there is all the text that was asked for")

// readPDF reads what the pages show. The library panics at what it does not understand; some of it ends the process.
func readPDF(ctx context.Context, data []byte, out *sink) (err error) {
	defer func() {
		if value := recover(); value != nil && value != any(errEnough) {
			err = badPDF(value)
		}
	}()
	data = trimmedPDF(data)
	file, err := pdf.NewReader(endsWith{ctx, bytes.NewReader(data)}, int64(len(data)))
	if err != nil {
		return badPDF(err)
	}
	r := &pdfReader{ctx: ctx, out: out, fonts: map[string]map[string]*pdfFont{}}
	r.walk(file.Trailer().Key("Root").Key("Pages"), pdf.Value{}, 0)
	if r.pages == 0 {
		return badPDF("it has no pages")
	}
	if r.broken != nil && len(bytes.TrimSpace(out.text)) == 0 {
		return badPDF(r.broken)
	}
	out.truncated = out.truncated || r.broken != nil
	return nil
}

// badPDF is the fault of a PDF that the library gives up.
func badPDF(why any) error {
	text := fmt.Sprint(why)
	if _, ok := why.(runtime.Error); ok {
		text = "it is damaged"
	}
	if strings.Contains(text, "encrypt") {
		return abi.Faultf(abi.InvalidArgument, "the PDF cannot be read: it is encrypted").WithHint("save it without a password")
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "malformed PDF: "), "malformed PDF file: ")
	return abi.Faultf(abi.InvalidArgument, "the PDF cannot be read: %s", printable(text))
}

// trimmedPDF cuts off what is around the file, and has it begin with a version that the library takes. What was there is a
// comment, whatever it says.
func trimmedPDF(data []byte) []byte {
	const header = "%PDF-1.7\n"
	if i := bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-")); i > 0 {
		data = data[i:]
	}
	if mark := []byte("%%EOF"); bytes.Contains(data, mark) {
		data = data[:bytes.LastIndex(data, mark)+len(mark)]
	}
	if bytes.HasPrefix(data, []byte("%PDF-")) && len(data) > len(header) {
		copy(data, header) // it is the run's own
	}
	return data
}

// endsWith is a file that cannot be read any more when a context has ended: so end most documents that loop.
type endsWith struct {
	ctx context.Context
	*bytes.Reader
}

func (e endsWith) ReadAt(b []byte, offset int64) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.Reader.ReadAt(b, offset)
}

// walk reads the pages below a node of the page tree, section 7.7.3. Resources are inherited.
func (r *pdfReader) walk(node, resources pdf.Value, depth int) {
	if r.nodes++; r.nodes > maxPDFNodes || depth > maxPDFDepth {
		panic(fmt.Errorf("it has more than %d pages, or pages in more than %d groups", maxPDFNodes, maxPDFDepth))
	}
	if own := node.Key("Resources"); own.Kind() == pdf.Dict {
		resources = own
	}
	if kids := node.Key("Kids"); kids.Kind() == pdf.Array {
		for i := range kids.Len() {
			r.walk(kids.Index(i), resources, depth+1)
		}
		return
	}
	if node.Kind() != pdf.Dict {
		return
	}
	if r.pages++; r.pages > 1 {
		r.write("\f")
	}
	if contents := node.Key("Contents"); contents.Kind() == pdf.Stream || contents.Kind() == pdf.Array {
		r.read(contents, resources)
	}
}

// read reads a page. Of one that the library gives up, such as for an image between its operators, there is the beginning.
func (r *pdfReader) read(contents, resources pdf.Value) {
	defer func() {
		value := recover()
		if value == any(errEnough) || r.ctx.Err() != nil {
			panic(errEnough)
		}
		if value != nil && r.broken == nil {
			r.broken = value
		}
	}()
	p := &pdfPage{pdfReader: r, state: newPDFState()}
	p.interpret(contents, resources, 0)
}

func (r *pdfReader) write(text string) {
	if !r.out.write(text) || r.ctx.Err() != nil {
		panic(errEnough)
	}
}
