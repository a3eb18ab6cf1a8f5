package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/auth"
)

// defaultHeartbeat is the default of Options.Heartbeat.
const defaultHeartbeat = 15 * time.Second

// addStreams registers the operations that stream log lines. The argument "op" describes the
// operation that runs a tool.
func (h *runHandler) addStreams(s *Server, op huma.Operation) {
	op.Description += " The first event contains the id of the run, even if the run is queued. The stream contains a comment every 15 seconds."
	op.Responses = map[string]*huma.Response{"200": {
		Description: "A stream of server-sent events (HTML Living Standard section 9.2): one `run` with the `run_id`, a `log` for each line, and at the end one `result` or one `problem`.",
		Headers:     map[string]*huma.Param{runIDHeader: {Schema: &huma.Schema{Type: "string"}, Description: "Id of the run"}},
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: "string"}}},
	}}
	op.OperationID, op.Path, op.Summary = "stream-run", "/runs/stream", "Run a tool and follow its log"
	addStream(s, h, auth.Run, op, (*runInput).job)
	op.OperationID, op.Path, op.Summary = "stream-run-in-session", "/sessions/{session_id}/runs/stream", "Run a tool in a session and follow its log"
	addStream(s, h, auth.Run, op, (*sessionRunInput).job)
	op.OperationID, op.Path, op.Summary = "stream-code", "/runs/code/stream", "Run code that no app declares and follow its log"
	addStream(s, h, auth.Code, op, (*codeInput).job)
}

func addStream[I appInput](s *Server, h *runHandler, permission auth.Permission, op huma.Operation, jobOf func(*I) (job, error)) {
	addPlain(s, permission, op, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		j, err := jobOf(in)
		if err != nil {
			return nil, err
		}
		c, err := h.access.open(ctx, (*in).AppID())
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			defer c.release()
			r, w := humago.Unwrap(hc)
			ctx, done := h.access.WithValidCredentials(hc.Context(), r)
			defer done()
			h.stream(ctx, c, &events{w: w, control: http.NewResponseController(w)}, j)
		}}, nil
	})
}

// stream executes a job and sends its events.
func (h *runHandler) stream(ctx context.Context, c *call, e *events, j job) {
	defer e.beat(h.heartbeat)()
	j.onID = func(id string) {
		e.run(id)
	}
	j.onLog = func(attempt int, line abi.LogLine) {
		e.send("log", struct {
			Attempt int `json:"attempt"`
			abi.LogLine
		}{attempt, line})
	}
	out, err := c.run(ctx, j)
	if refused := revokedError(ctx); refused != nil && (err != nil || !out.Body.OK) {
		err = refused // the reason why the run failed
	}
	if err != nil {
		e.send("problem", loggedProblem(h.logger, err).Problem)
		return
	}
	e.send("result", out.Body)
}

// runIDHeader is the response header that contains the run id.
const runIDHeader = "Run-Id"

// events writes server-sent events. events is safe for concurrent use.
type events struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration // 0 for sendTimeout
	began   bool
}

// run begins the response with the run id.
func (e *events) run(id string) {
	e.mu.Lock()
	e.w.Header().Set(runIDHeader, id)
	e.mu.Unlock()
	e.send("run", struct {
		RunID string `json:"run_id"`
	}{id})
}

// beat sends comments periodically. The returned function stops the comments.
func (e *events) beat(every time.Duration) (stop func()) {
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				e.write(": \n\n")
			}
		}
	}()
	return func() {
		close(ended)
		<-stopped // the response must not be used after the handler returns
	}
}

// sendTimeout is the time limit for a client to read an event. The limit keeps a run from waiting
// for a client that does not read.
const sendTimeout = 5 * time.Second

// send writes one event. send ignores errors, because a disconnect ends the request anyway.
func (e *events) send(name string, v any) {
	text, err := json.Marshal(v) // on one line
	if err != nil {
		return
	}
	e.write(fmt.Sprintf("event: %s\ndata: %s\n\n", name, text))
}

// write writes a part of the stream. The first call begins the response.
func (e *events) write(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.began {
		e.began = true
		e.w.Header().Set("Content-Type", "text/event-stream")
		e.w.WriteHeader(http.StatusOK)
	}
	_ = e.control.SetWriteDeadline(time.Now().Add(cmp.Or(e.timeout, sendTimeout)))
	_, _ = io.WriteString(e.w, text)
	_ = e.control.Flush()
	_ = e.control.SetWriteDeadline(time.Time{}) // HTTP/2 closes a stream at its deadline, even if the stream is idle
}
