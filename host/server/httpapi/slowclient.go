package httpapi

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// responseTimeout is the time limit for a client to read a response. responseTimeout does not apply
// to files and streams.
const responseTimeout = 2 * time.Minute

// deadlineWriter is an http.ResponseWriter with a write deadline that starts when the response
// begins. The deadline exists because unread responses occupy memory and a connection.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	began   bool
}

// newDeadlineWriter returns a deadlineWriter. The writer clears the deadline that the previous
// response set on the connection.
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

// Flush implements http.Flusher for callers that do not use Unwrap.
func (t *deadlineWriter) Flush() {
	if !t.began {
		t.WriteHeader(http.StatusOK)
	}
	_ = t.control.Flush()
}

// Unwrap returns the underlying writer for http.ResponseController.
func (t *deadlineWriter) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// minRate is the minimum rate at which a client must read a file.
type minRate struct {
	// stall is the maximum time without progress.
	stall time.Duration
	// chunk is the average time allowed for each chunk, in addition to the time of one stall. Without
	// this limit, a client that reads a few bytes at a time could keep a file open for hours.
	chunk time.Duration
}

// fileRate is a minimum rate of 32 KiB per second.
var fileRate = minRate{stall: 30 * time.Second, chunk: 2 * time.Second}

const chunkBytes = 64 << 10

// fileWriter writes a file to a client that must read at the minRate.
type fileWriter struct {
	minRate
	w       http.ResponseWriter
	control *http.ResponseController
	begin   time.Time
	chunks  int
	buffer  []byte
}

// start returns a fileWriter and starts its clock.
func (p minRate) start(w http.ResponseWriter) *fileWriter {
	return &fileWriter{minRate: p, w: w, control: http.NewResponseController(w), begin: time.Now(), buffer: make([]byte, chunkBytes)}
}

// wait calls the function f, and does not charge the duration of f to the client.
func (p *fileWriter) wait(f func()) {
	since := time.Now()
	f()
	p.begin = p.begin.Add(time.Since(since))
}

// copy writes a part of the file. copy stops if the client is too slow or disconnects. copy returns
// the number of bytes written.
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
			return sent, p.control.Flush() // while the deadline set above applies
		}
		if readErr != nil {
			return sent, readErr
		}
	}
}
