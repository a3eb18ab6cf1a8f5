package pdfium

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf16"

	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// Errors of Text.
var (
	// ErrPassword means that a document requires a password.
	ErrPassword = errors.New("pdfium: the document is encrypted")
	// ErrFormat means that a document is not well-formed.
	ErrFormat = errors.New("pdfium: the document is damaged")
	// ErrLimit means that a document exceeds a limit on memory or instructions.
	ErrLimit = errors.New("pdfium: the document exceeds a limit")
)

// These are the budgets for reading a document. The unit is slices of fuel. A slice takes about a
// third of a millisecond on a fast CPU. A large document exceeds this budget before it exceeds the
// CPU time limit. Therefore the text that was already read is kept.
const (
	documentSlices = 5000
	pageSlices     = 2500
	flattenSlices  = 1000 // the budget for one page, including its annotations
)

// maxInstances is the maximum number of instances for one document. If a page ends its instance,
// the next pages are read in another instance.
const maxInstances = 8

// maxMissing is the maximum number of consecutive missing pages. A document can declare millions of
// pages. After maxMissing consecutive missing pages, all further pages are therefore skipped.
const maxMissing = 100

// These are error numbers of the library; see FPDF_GetLastError in fpdfview.h.
const (
	errorPassword = 4
	errorSecurity = 5
)

// Text reads the pages of a document in order. For each page, Text calls the function "page" with
// the text of the page. If the function returns false, Text stops. If a page is unreadable, its
// text is "". The argument "memory" is the maximum number of bytes that an instance uses. These
// bytes include the document.
//
// The error is ErrPassword, ErrFormat, ErrLimit or the cause of ctx. Even if Text returns an error,
// it may already have called the function "page" for some pages.
func (l *Library) Text(ctx context.Context, data []byte, memory int64, page func(text string) bool) error {
	r := &reading{library: l, ctx: ctx, data: data, memory: memory, page: page, left: budget{document: documentSlices}}
	for range maxInstances {
		done, err := r.instance()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if done && err == nil && r.loaded == 0 && r.skipped == nil {
			err = ErrFormat
		}
		if done || err != nil {
			return errors.Join(err, r.skipped)
		}
	}
	return ErrLimit
}

// reading contains the state while Text reads one document. If an instance ends and another
// instance continues with the document, the state is kept.
type reading struct {
	library *Library
	ctx     context.Context
	data    []byte
	memory  int64
	page    func(text string) bool
	left    budget
	next    int   // the index of the current page
	missing int   // consecutive missing pages
	loaded  int   // the number of pages that were read
	plain   bool  // true if the current page must be read without its annotations
	skipped error // the reason why a page was not read
}

// instance creates an instance and reads pages until a page ends the instance. If there are no more
// pages, the method returns true.
func (r *reading) instance() (done bool, err error) {
	in, err := r.library.image.Restore(r.ctx, nil)
	if err != nil {
		return false, err
	}
	defer in.Discard(context.WithoutCancel(r.ctx))
	if in.LimitMemory(uint64(r.memory)) != nil {
		return false, ErrLimit
	}
	g := newGuest(r.ctx, in, &r.left)
	r.left.page = pageSlices
	document, err := r.open(g)
	if err != nil {
		return false, err
	}
	count := int(int32(g.call("FPDF_GetPageCount", uint64(document))))
	for r.next < count {
		r.left.page = pageSlices
		text, flattened := r.pageText(g, document)
		if r.ctx.Err() != nil {
			return false, r.ctx.Err()
		}
		if g.err != nil && flattened && r.left.document >= 0 {
			r.plain, r.skipped = true, cause(g, in)
			return false, nil
		}
		r.next, r.plain = r.next+1, false
		if !r.page(text) {
			return true, nil
		}
		if g.err != nil {
			r.skipped = cause(g, in)
			return r.next >= count || r.left.document < 0, nil
		}
		if r.missing >= maxMissing {
			return true, ErrFormat
		}
	}
	return true, g.err
}

// cause returns the error for a document that has ended its instance.
func cause(g *guest, in *snapshot.Instance) error {
	if g.spent || in.Refused() {
		return ErrLimit
	}
	return ErrFormat
}

// open opens the document without a password. This also works for a document that only restricts
// permissions.
func (r *reading) open(g *guest) (uint32, error) {
	at := g.write(r.data)
	document := g.call("FPDF_LoadMemDocument", uint64(at), uint64(len(r.data)), 0)
	if g.err != nil {
		return 0, cause(g, g.in)
	}
	if document != 0 {
		return document, nil
	}
	switch g.call("FPDF_GetLastError") {
	case errorPassword, errorSecurity:
		return 0, ErrPassword
	}
	return 0, ErrFormat
}

// pageText returns the text of a page. pageText first makes the library flatten the page: the
// library adds the form fields and annotations to the page's content.
func (r *reading) pageText(g *guest, document uint32) (text string, flattened bool) {
	page := g.call("FPDF_LoadPage", uint64(document), uint64(r.next))
	if page == 0 {
		r.missing++
		return "", false
	}
	r.missing = 0
	r.loaded++
	if !r.plain && int32(g.call("FPDFPage_GetAnnotCount", uint64(page))) > 0 {
		flattened, r.left.page = true, min(r.left.page, flattenSlices)
		drawFields(g, page)
		g.call("FPDFPage_Flatten", uint64(page), 0)
		g.call("FPDF_ClosePage", uint64(page))
		if page = g.call("FPDF_LoadPage", uint64(document), uint64(r.next)); page == 0 {
			return "", flattened
		}
	}
	shown := g.call("FPDFText_LoadPage", uint64(page))
	if shown != 0 {
		text = characters(g, shown)
		g.call("FPDFText_ClosePage", uint64(shown))
	}
	g.call("FPDF_ClosePage", uint64(page))
	return text, flattened
}

// widget is the library's number for the annotation type of form fields; see FPDF_ANNOT_WIDGET.
const widget = 20

// maxWidgets is the maximum number of form fields that drawFields draws on one page.
const maxWidgets = 2000

// drawFields draws, on one page, each form field that has no appearance stream. Programs that fill
// in forms often omit the appearance streams of fields, because such programs expect that a viewer
// draws the fields.
func drawFields(g *guest, page uint32) {
	key := g.write([]byte("AP\x00"))
	count := min(int(int32(g.call("FPDFPage_GetAnnotCount", uint64(page)))), maxWidgets)
	for i := range count {
		annotation := g.call("FPDFPage_GetAnnot", uint64(page), uint64(i))
		if annotation == 0 {
			continue
		}
		if g.call("FPDFAnnot_GetSubtype", uint64(annotation)) == widget && g.call("FPDFAnnot_HasKey", uint64(annotation), uint64(key)) == 0 {
			g.call("EPDFAnnot_GenerateFormFieldAP", uint64(annotation))
		}
		g.call("FPDFPage_CloseAnnot", uint64(annotation))
	}
	g.call("free", uint64(key))
}

// characters returns the characters of a text page.
func characters(g *guest, text uint32) string {
	count := g.call("FPDFText_CountChars", uint64(text))
	if int32(count) <= 0 {
		return ""
	}
	const unit = 2 // bytes
	buffer := g.call("malloc", uint64(count+1)*unit)
	if buffer == 0 {
		return ""
	}
	written := g.call("FPDFText_GetText", uint64(text), 0, uint64(count), uint64(buffer))
	raw, ok := g.in.Guest().Memory().Read(buffer, max(written, 1)*unit-unit)
	if g.err != nil || !ok {
		return ""
	}
	units := make([]uint16, len(raw)/unit)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(raw[unit*i:])
	}
	g.call("free", uint64(buffer))
	return cleaned(string(utf16.Decode(units)))
}

// cleaned converts line ends. The function also joins a word that was hyphenated at the end of a
// line. The library marks the positions of such hyphens.
func cleaned(text string) string {
	const hyphen = "\uFFFE"
	text = strings.NewReplacer(hyphen+"\r\n", "", hyphen, "", "\u0002\r\n", "", "\u0002", "", "\r\n", "\n", "\r", "\n", "\u00A0", " ", "\x00", "").Replace(text)
	return strings.TrimSpace(text)
}
