package mcpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// problemWriter replaces plain-text errors of the SDK and of net/http with problem documents (RFC
// 9457), which the HTTP API also returns.
type problemWriter struct {
	http.ResponseWriter
	status int // status of the collected plain-text error, or 0
	began  bool
	text   bytes.Buffer
}

// maxProblemText is the maximum length of the error text that is kept.
const maxProblemText = 4 << 10

// withProblems returns a handler that converts the errors of the handler "next" to problem
// documents.
func withProblems(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &problemWriter{ResponseWriter: w}
		next.ServeHTTP(p, r)
		p.end()
	})
}

// WriteHeader delays the status of a plain-text error.
func (p *problemWriter) WriteHeader(status int) {
	if p.began {
		return
	}
	if status >= 400 && strings.HasPrefix(p.Header().Get("Content-Type"), "text/plain") {
		p.began, p.status = true, status
		return
	}
	p.began = status >= 200
	p.ResponseWriter.WriteHeader(status)
}

// Write collects the text of a plain-text error and writes everything else.
func (p *problemWriter) Write(text []byte) (int, error) {
	if p.status == 0 {
		p.began = true
		return p.ResponseWriter.Write(text)
	}
	p.text.Write(text[:min(len(text), maxProblemText-min(p.text.Len(), maxProblemText))])
	return len(text), nil
}

// Flush implements http.Flusher.
func (p *problemWriter) Flush() {
	if p.status == 0 {
		p.began = true
		_ = http.NewResponseController(p.ResponseWriter).Flush() // some writers do not support Flush
	}
}

// Unwrap returns the underlying writer for http.ResponseController.
func (p *problemWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// end writes the problem document if a plain-text error was collected.
func (p *problemWriter) end() {
	if p.status == 0 {
		return
	}
	writeProblem(p.ResponseWriter, p.status, abi.Faultf(codeOf(p.status), "%s", strings.TrimSpace(p.text.String())))
}

// codeOf returns the fault code for a status.
func codeOf(status int) abi.Code {
	switch {
	case status == http.StatusNotFound:
		return abi.NotFound
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return abi.AccessDenied
	case status == http.StatusRequestEntityTooLarge:
		return abi.TooLarge
	case status == http.StatusServiceUnavailable:
		return abi.Unavailable
	case status >= 500:
		return abi.Internal
	}
	return abi.InvalidArgument
}

// writeProblem writes a fault as a problem document.
func writeProblem(w http.ResponseWriter, status int, f *abi.Fault) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Del("Content-Length")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct { // the client may have disconnected
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		Code   string `json:"code"`
		Hint   string `json:"hint,omitempty"`
	}{"urn:toolrun:fault:" + string(f.Code), http.StatusText(status), status, f.Message, string(f.Code), f.Hint})
}
