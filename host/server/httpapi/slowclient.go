package httpapi

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// responseTimeout is how long a client may take to read a response that is neither a file nor a
// stream.
const responseTimeout = 2 * time.Minute

// deadlineWriter is a http.ResponseWriter with a write deadline that starts with the response.
// Unread responses occupy memory and a connection.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	began   bool
}

// newDeadlineWriter returns a deadlineWriter. It clears the deadline that the connection has from
// the previous response.
func newDeadlineWriter(w http.ResponseWriter) *deadlineWriter {
	t := &deadlineWriter{ResponseWriter: w, control: http.NewResponseController(w)}
	_ = t.control.SetWriteDeadline(time.Time{})
	return t
}

// WriteHeader begins the response. A stream sets its own deadlines.
func (t *deadlineWriter) WriteHeader(status int) {
	if !t.began && status >= http.StatusOK {
		t.began = true
		if !strings.HasPrefix(t.Header().Get("Content-Type"), "text/event-stream") {
			_ = t.control.SetWriteDeadline(time.Now().Add(responseTimeout))
		}
	}
	t.ResponseWriter.WriteHeader(status)
}

// Write begins the response if WriteHeader was not called.
func (t *deadlineWriter) Write(p []byte) (int, error) {
	if !t.began {
		t.WriteHeader(http.StatusOK)
	}
	return t.ResponseWriter.Write(p)
}

// Flush implements http.Flusher, for callers that do not use Unwrap.
func (t *deadlineWriter) Flush() {
	if !t.began {
		t.WriteHeader(http.StatusOK)
	}
	_ = t.control.Flush()
}

// Unwrap implements the interface that http.ResponseController uses.
func (t *deadlineWriter) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// minRate is the minimum rate at which a client has to read a file.
type minRate struct {
	// stall is the longest time without any progress.
	stall time.Duration
	// chunk is the average time allowed for each chunk, in addition to one stall. Without it, a
	// trickling client could hold a file for hours.
	chunk time.Duration
}

// fileRate is 32 KiB per second.
var fileRate = minRate{stall: 30 * time.Second, chunk: 2 * time.Second}

const chunkBytes = 64 << 10

// fileWriter writes a file to a client that has to keep up with a minRate.
type fileWriter struct {
	minRate
	w       http.ResponseWriter
	control *http.ResponseController
	begin   time.Time
	chunks  int
	buffer  []byte
}

// start returns a fileWriter whose time starts now.
func (p minRate) start(w http.ResponseWriter) *fileWriter {
	return &fileWriter{minRate: p, w: w, control: http.NewResponseController(w), begin: time.Now(), buffer: make([]byte, chunkBytes)}
}

// wait calls f and does not charge its duration to the client.
func (p *fileWriter) wait(f func()) {
	since := time.Now()
	f()
	p.begin = p.begin.Add(time.Since(since))
}

// copy writes a part of the file, until the client is too slow or disconnects. It returns the
// number of bytes written.
func (p *fileWriter) copy(r io.Reader) (sent int64, err error) {
	for ; ; p.chunks++ {
		n, readErr := io.ReadFull(r, p.buffer)
		deadline := p.begin.Add(p.stall + time.Duration(p.chunks)*p.chunk)
		if stalled := time.Now().Add(p.stall); stalled.Before(deadline) {
			deadline = stalled
		}
		_ = p.control.SetWriteDeadline(deadline)
		if n > 0 {
			written, err := p.w.Write(p.buffer[:n])
			if sent += int64(written); err != nil {
				return sent, err
			}
		}
		if readErr == io.EOF || readErr == io.ErrUnexpectedEOF {
			return sent, p.control.Flush() // while this deadline is set
		}
		if readErr != nil {
			return sent, readErr
		}
	}
}
