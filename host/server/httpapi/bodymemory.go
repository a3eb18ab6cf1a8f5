package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/internal/strictjson"
)

const (
	// fileRoom is how many bytes of files that are uploaded, and of those that are downloaded, are in memory at a time.
	uploadBytes = 256 << 20
	// DefaultBodyBytes is how much memory the JSON bodies of requests take at a time.
	DefaultBodyBytes = 256 << 20

	// What a JSON body takes in memory, for each of its bytes: while it is read and decoded, what the collector has not
	// freed yet included, and as long as its request goes on.
	readingTakes = 12
	keptTakes    = 3
	// treeBytes is how much of a body becomes a tree of values at a time: documents that memory takes, such as records,
	// have no more. For each byte it takes treeTakes while it is there, and keptTreeTakes on average.
	treeBytes     = 256 << 10
	treeTakes     = 64
	keptTreeTakes = 16
	// bodyStep is how much of a body whose length is unknown is paid for at a time.
	bodyStep = 64 << 10
)

// importTakes is what each byte of an imported document takes: it is read as YAML.
const importTakes = 200

// reading is what the body takes while it is read and decoded where it has a length.
func (b *body) reading(length int64) int64 {
	if b.document {
		return min(importTakes*length, b.maxHeld)
	}
	return readingTakes*length + treeTakes*min(length, treeBytes)
}

// holdBody makes room for a JSON body before any of it is read, and keeps some until its request is answered.
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
	return nil
}

// pay makes room for what was read beyond the length that is paid for.
func (b *body) pay() error {
	if b.held == nil || b.read <= b.paid {
		return nil
	}
	step := max(bodyStep, b.paid) // as a buffer grows
	if err := b.held.grow(b.ctx, b.reading(b.paid+step)-b.reading(b.paid)); err != nil {
		return err
	}
	b.paid += step
	return nil
}

// unpaid reports whether there is no room for what was read.
func (b *body) unpaid() bool {
	if err := b.pay(); err != nil {
		b.err = err
	}
	return b.err != nil
}

// decoded gives back the room that only decoding takes. What becomes a tree does so later.
func (b *body) decoded() {
	if b != nil && b.held != nil && !b.document {
		b.held.shrink(keptTakes*b.read + keptTreeTakes*min(b.read, treeBytes))
	}
}

// free gives back all room.
func (b *body) free() {
	if b != nil && b.held != nil {
		b.held.free()
	}
}

// maxHandledBytes is how long a body of another surface may be.
const maxHandledBytes = 4 << 20

// ReadBody reads a JSON body for another surface, with room for it as for one of the API, and leaves it to be read again.
// Release is called when the request is answered. The error is for WriteProblem.
func (a *Access) ReadBody(w http.ResponseWriter, r *http.Request, p auth.Principal) (release func(), err error) {
	control := http.NewResponseController(w)
	if r.ContentLength > maxHandledBytes {
		_ = control.SetReadDeadline(time.Now().Add(bodyReadTime))
		discard(r, r.Body)
		return nil, bodyTooLarge
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
	if wrong, ok := errors.AsType[*strictjson.Error](err); ok && (wrong.Kind == strictjson.TooManyValues || wrong.Kind == strictjson.TooDeep) {
		b.free()
		return nil, abi.Faultf(abi.TooLarge, "the body cannot be read: %v", wrong)
	}
	r.Body = io.NopCloser(bytes.NewReader(text)) // what else is wrong with it the surface reports
	return b.free, nil
}

// bodyReadTime is how long a body may take to be sent.
const bodyReadTime = 5 * time.Second

// holdUpload makes room for a file before any of it is read.
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

// refuseUnread refuses a request whose body was not read.
func refuseUnread(ctx huma.Context, err error) {
	r, _ := humago.Unwrap(ctx)
	drain(r)
	refuse(ctx, err)
}

// drain reads what a client sends that waits for no leave to: it reads no answer before all is sent.
func drain(r *http.Request) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.Copy(io.Discard, r.Body)
	}
}
