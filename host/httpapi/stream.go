package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/access"
)

// addStreams adds runs whose log lines are sent as they come; op is that of a run.
func (s *Server) addStreams(op huma.Operation) {
	op.Responses = map[string]*huma.Response{"200": {
		Description: "Events (server-sent events, HTML Living Standard section 9.2): `log` for each line, then one `result` or one `problem`.",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: "string"}}},
	}}
	op.OperationID, op.Path, op.Summary = "stream-run", "/runs/stream", "Run a tool and follow its log"
	addStream(s, op, func(in *runInput) (*runInput, error) { return in, nil })
	op.OperationID, op.Path, op.Summary = "stream-run-in-session", "/sessions/{session_id}/runs/stream", "Run a tool in a session and follow its log"
	addStream(s, op, (*sessionRunInput).run)
}

func addStream[I targeted](s *Server, op huma.Operation, runOf func(*I) (*runInput, error)) {
	addPlain(s, access.Run, op, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		run, err := runOf(in)
		if err != nil {
			return nil, err
		}
		c, err := s.open(ctx, run.App)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			defer c.release()
			r, w := humago.Unwrap(hc)
			ctx, done := s.WhileGood(hc.Context(), r)
			defer done()
			c.stream(ctx, &events{w: w, control: http.NewResponseController(w)}, s, run)
		}}, nil
	})
}

// stream runs a tool and sends what happens.
func (c *call) stream(ctx context.Context, e *events, s *Server, in *runInput) {
	e.begin()
	out, err := c.run(ctx, in.Body.Tool, in.Body.RunFields, in.Key, nil, func(attempt int, line abi.LogLine) {
		e.send("log", struct {
			Attempt int `json:"attempt"`
			abi.LogLine
		}{attempt, line})
	})
	if refused := refusedMeanwhile(ctx); refused != nil && (err != nil || !out.Body.OK) {
		err = refused // which is why the run failed
	}
	if err != nil {
		_ = s.answer(err) // for the log
		e.send("problem", problemOf(err).Problem)
		return
	}
	e.send("result", out.Body)
}

// events writes server-sent events.
type events struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
}

// sendTimeout is how long a client may take to read an event: a run must not wait for who does not listen.
const sendTimeout = 5 * time.Second

func (e *events) begin() {
	e.w.Header().Set("Content-Type", "text/event-stream")
	e.w.WriteHeader(http.StatusOK)
	_ = e.control.Flush()
}

// send writes one event. An error means that nobody listens, whose request then ends.
func (e *events) send(name string, v any) {
	text, err := json.Marshal(v) // on one line
	if err != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.control.SetWriteDeadline(time.Now().Add(sendTimeout))
	fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", name, text)
	_ = e.control.Flush()
}
