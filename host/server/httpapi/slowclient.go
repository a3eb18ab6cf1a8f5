package httpapi

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// answerTime is how long a client may take to read an answer that is neither a file nor a stream.
const responseTimeout = 2 * time.Minute

// timed is an answer that has to be read in time once it begins: what is not read is kept in memory, and its connection.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	began   bool
}

// newTimed takes away the deadline that the connection has from the answer before.
func newDeadlineWriter(w http.ResponseWriter) *deadlineWriter {
	t := &deadlineWriter{ResponseWriter: w, control: http.NewResponseController(w)}
	_ = t.control.SetWriteDeadline(time.Time{})
	return t
}

// WriteHeader begins the answer. A stream looks after its time itself.
func (t *deadlineWriter) WriteHeader(status int) {
	if !t.began && status >= http.StatusOK {
		t.began = true
		if !strings.HasPrefix(t.Header().Get("Content-Type"), "text/event-stream") {
			_ = t.control.SetWriteDeadline(time.Now().Add(responseTimeout))
		}
	}
	t.ResponseWriter.WriteHeader(status)
}

// Write begins the answer where WriteHeader did not.
func (t *deadlineWriter) Write(p []byte) (int, error) {
	if !t.began {
		t.WriteHeader(http.StatusOK)
	}
	return t.ResponseWriter.Write(p)
}

// Flush is for those who look for it and not for Unwrap.
func (t *deadlineWriter) Flush() {
	if !t.began {
		t.WriteHeader(http.StatusOK)
	}
	_ = t.control.Flush()
}

// Unwrap is for http.ResponseController.
func (t *deadlineWriter) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// pace is how fast a client has to read a file.
type minRate struct {
	// stall is how long it may read nothing.
	stall time.Duration
	// chunk is how long it may take for each chunk on average, beside one stall: a trickle would hold the file for hours.
	chunk time.Duration
}

// filePace is 32 KiB a second.
var fileRate = minRate{stall: 30 * time.Second, chunk: 2 * time.Second}

const chunkBytes = 64 << 10

// paced is the reader of a file, who has to keep a pace.
type fileWriter struct {
	minRate
	w       http.ResponseWriter
	control *http.ResponseController
	begin   time.Time
	chunks  int
	buffer  []byte
}

// start begins to send a file.
func (p minRate) start(w http.ResponseWriter) *fileWriter {
	return &fileWriter{minRate: p, w: w, control: http.NewResponseController(w), begin: time.Now(), buffer: make([]byte, chunkBytes)}
}

// wait calls f, whose time is not the reader's.
func (p *fileWriter) wait(f func()) {
	since := time.Now()
	f()
	p.begin = p.begin.Add(time.Since(since))
}

// copy sends a part of the file, until the reader is too slow or has gone, and returns how much it sent.
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
			return sent, p.control.Flush() // as long as the deadline is this one
		}
		if readErr != nil {
			return sent, readErr
		}
	}
}
