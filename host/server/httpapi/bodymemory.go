package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/internal/strictjson"
)

const (
	// uploadBytes limits the memory of all concurrent uploads, in bytes.
	uploadBytes = 256 << 20
	// DefaultBodyBytes is the default of Options.BodyBytes.
	DefaultBodyBytes = 256 << 20

	// readingTakes is the number of bytes of memory that are reserved for each byte of a JSON body
	// while the body is read and decoded. This number includes the decoder's garbage. After
	// decoding, keptTakes bytes of memory for each byte remain reserved until the end of the
	// request.
	readingTakes = 12
	keptTakes    = 3
	// treeBytes is the maximum size of a part of a body that is decoded into a tree of values.
	// Stored documents, such as records, never exceed treeBytes. A tree uses treeTakes bytes of
	// memory for each byte of its text. After decoding, keptTreeTakes bytes of memory remain
	// reserved for each byte of the text, because parts of the body can be decoded into trees
	// later.
	treeBytes     = 256 << 10
	treeTakes     = 64
	keptTreeTakes = 16
	// bodyStep is the number of bytes by which a reservation grows for a body of unknown length.
	bodyStep = 64 << 10
)

// largeBody is the size in bytes above which a body is large. Decoding a large body occupies a
// processor for milliseconds. Therefore, at most half of the processors decode large bodies. If
// there is only one processor, this processor decodes large bodies, too.
const largeBody = treeBytes

func maxDecodes() int64 { return int64(max(1, runtime.GOMAXPROCS(0)/2)) }

// importTakes is the number of bytes of memory that are reserved for each byte of an imported
// document. The document is parsed as YAML.
const importTakes = 200

// The method reading returns the memory that a body of the given length takes while it is read and
// decoded.
func (b *body) reading(length int64) int64 {
	if b.document {
		return min(importTakes*length, b.maxHeld)
	}
	return readingTakes*length + treeTakes*min(length, treeBytes)
}

// reserveBody reserves memory for a JSON body before the body is read. Part of the reservation
// lasts until the response is sent.
func (a *Access) reserveBody(ctx context.Context, p auth.Principal, b *body, length int64) error {
	if length < 0 {
		length = bodyStep
	}
	b.maxHeld = a.bodies.size / 4
	held, err := a.bodies.acquire(ctx, b.reading(length), pathOf(p)...)
	if err != nil {
		return err
	}
	b.ctx, b.held, b.paid = ctx, held, length
	b.decodes, b.path = a.decodes, pathOf(p)
	return nil
}

// startDecoding waits until decoding of the body is allowed. Only large bodies wait.
func (b *body) startDecoding() error {
	if b.decodes == nil || b.decoding != nil || b.read <= largeBody {
		return nil
	}
	decoding, err := b.decodes.acquire(b.ctx, 1, b.path...)
	b.decoding = decoding
	return err
}

// endDecoding allows the decoding of the next large body.
func (b *body) endDecoding() {
	if b.decoding != nil {
		b.decoding.free()
		b.decoding = nil
	}
}

// pay extends the reservation if more bytes were read than the reservation covers.
func (b *body) pay() error {
	if b.held == nil || b.read <= b.paid {
		return nil
	}
	step := max(bodyStep, b.paid) // double the reservation, like a growing buffer
	if err := b.held.grow(b.ctx, b.reading(b.paid+step)-b.reading(b.paid)); err != nil {
		return err
	}
	b.paid += step
	return nil
}

// The method unpaid reports whether reserving memory failed for the bytes that were read.
func (b *body) unpaid() bool {
	if err := b.pay(); err != nil {
		b.err = err
	}
	return b.err != nil
}

// decoded releases the memory that only decoding needs. Some memory remains reserved, because parts
// of the body can be decoded into trees later.
func (b *body) decoded() {
	if b == nil {
		return
	}
	b.endDecoding()
	if b.held != nil && !b.document {
		b.held.shrink(keptTakes*b.read + keptTreeTakes*min(b.read, treeBytes))
	}
}

// free releases all memory of the body.
func (b *body) free() {
	if b == nil {
		return
	}
	b.endDecoding()
	if b.held != nil {
		b.held.free()
	}
}

// maxHandledBytes is the maximum size of a request body of another protocol, such as MCP.
const maxHandledBytes = 4 << 20

// ReadBody reads a JSON body for another protocol, such as MCP, and makes the body readable again.
// Like the API, ReadBody reserves memory for the body. The caller must call the function "release"
// after the response has been sent. If ReadBody returns an error, the caller must pass this error
// to WriteProblem.
func (a *Access) ReadBody(w http.ResponseWriter, r *http.Request, p auth.Principal) (release func(), err error) {
	control := http.NewResponseController(w)
	if r.ContentLength > maxHandledBytes {
		_ = control.SetReadDeadline(time.Now().Add(bodyReadTime))
		discard(r, r.Body)
		return nil, bodyTooLarge(maxHandledBytes)
	}
	b := &body{ReadCloser: r.Body, left: maxHandledBytes, control: control}
	if err := a.reserveBody(r.Context(), p, b, r.ContentLength); err != nil {
		_ = control.SetReadDeadline(time.Now().Add(bodyReadTime))
		drain(r)
		return nil, err
	}
	_ = control.SetReadDeadline(time.Now().Add(bodyReadTime))
	text, err := io.ReadAll(b)
	if err != nil {
		b.free()
		b.discardRest(r)
		return nil, err
	}
	err = strictjson.Check(text, bodyLimits)
	b.endDecoding()
	if wrong, ok := errors.AsType[*strictjson.Error](err); ok && (wrong.Kind == strictjson.TooManyValues || wrong.Kind == strictjson.TooDeep) {
		b.free()
		return nil, abi.Faultf(abi.TooLarge, "cannot read the body: %v", wrong)
	}
	r.Body = io.NopCloser(bytes.NewReader(text)) // the handler of the other protocol reports syntax errors
	return b.free, nil
}

// bodyReadTime is the time limit for receiving a body.
const bodyReadTime = 5 * time.Second

// reserveUpload reserves memory for a file before the file is read.
func (h *fileHandler) reserveUpload(ctx huma.Context, next func(huma.Context)) {
	r, _ := humago.Unwrap(ctx)
	p, _ := ctx.Context().Value(principalKey{}).(auth.Principal)
	bytes := r.ContentLength
	if bytes < 0 {
		bytes = ctx.Operation().MaxBodyBytes
	}
	held, err := h.uploads.acquire(r.Context(), bytes, pathOf(p)...)
	if err != nil {
		refuseUnread(ctx, err)
		return
	}
	defer held.free()
	next(ctx)
}

// refuseUnread rejects a request whose body was not read.
func refuseUnread(ctx huma.Context, err error) {
	r, _ := humago.Unwrap(ctx)
	drain(r)
	refuse(ctx, err)
}

// drain reads the body of a request, unless the client waits for "100 Continue". A client that does
// not wait reads the response only after it has sent the whole body.
func drain(r *http.Request) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.Copy(io.Discard, r.Body)
	}
}
