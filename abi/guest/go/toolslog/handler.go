package toolslog

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/guest/go/internal/imports"
)

// Handler returns a handler that logs each record as one line. The line consists of the message and
// of the attributes in the format of slog's text handler. The handler omits the level and the time,
// because every log line of a run has both. The handler is safe for concurrent use.
func Handler() slog.Handler {
	line := &line{}
	return handler{slog.NewTextHandler(&line.text, &slog.HandlerOptions{Level: slog.LevelDebug}), line}
}

// line is the buffer for the current line of the text handler.
type line struct {
	sync.Mutex
	text bytes.Buffer
}

type handler struct {
	slog.Handler
	line *line
}

// noMessage is the prefix that the text handler writes for a record with an empty message.
var noMessage = []byte(`msg=""`)

// Handle logs the record.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	bare := slog.NewRecord(time.Time{}, r.Level, "", 0)
	r.Attrs(func(a slog.Attr) bool {
		bare.AddAttrs(a)
		return true
	})
	h.line.Lock()
	defer h.line.Unlock()
	h.line.text.Reset()
	if err := h.Handler.Handle(ctx, bare); err != nil {
		return err
	}
	_, attrs, _ := bytes.Cut(h.line.text.Bytes(), noMessage)
	imports.Log(level(r.Level), r.Message+string(bytes.TrimSuffix(attrs, []byte("\n"))))
	return nil
}

// WithAttrs returns a handler that adds attrs to each record.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.line}
}

// WithGroup returns a handler that adds subsequent attributes to the named group.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.line}
}

// level returns the highest level of package abi that is not above l.
func level(l slog.Level) abi.Level {
	switch {
	case l >= slog.LevelError:
		return abi.LevelError
	case l >= slog.LevelWarn:
		return abi.LevelWarn
	case l >= slog.LevelInfo:
		return abi.LevelInfo
	}
	return abi.LevelDebug
}
