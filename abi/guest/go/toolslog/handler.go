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

// Handler returns a handler that logs each record as one line: its message, and its attributes as slog's text
// handler writes them. Level and time are the log line's own. It is safe for concurrent use.
func Handler() slog.Handler {
	line := &line{}
	return handler{slog.NewTextHandler(&line.text, &slog.HandlerOptions{Level: slog.LevelDebug}), line}
}

// line is where the text handler writes the line under way.
type line struct {
	sync.Mutex
	text bytes.Buffer
}

type handler struct {
	slog.Handler
	line *line
}

// noMessage ends what the text handler writes before the attributes of a record that has no message.
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

// WithAttrs returns a handler whose records have attrs as well.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.line}
}

// WithGroup returns a handler whose later attributes are in a group.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.line}
}

// level is the nearest level of the log that is not above l.
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
