// Package modeltest contains a provider of models for tests. The provider implements the protocol
// of OpenAI on a port of 127.0.0.1. The provider returns the answers of a script and counts
// requests.
package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

// Reply is an answer of the script. The zero Reply repeats the last message of the request.
type Reply struct {
	// Status is the HTTP status of the answer. Default: 200.
	Status int
	// Header contains additional headers.
	Header map[string]string
	// If Body is set, it replaces the whole body of the answer.
	Body string
	// Text is the content of the answer. Default: "re: " and the last message.
	Text string
	// Finish is the finish_reason. Default: stop.
	Finish string
	// Calls contains tool calls. Each tool call is a pair of a name and arguments.
	Calls [][2]string
	// Delay is the time for which the server waits before it answers. If the client disconnects,
	// the wait ends early.
	Delay time.Duration
	// If Endless is true, the server repeats the body until the client disconnects. If Cut is true,
	// the server closes the connection in the middle of the body.
	Endless, Cut bool
}

// Request is a request that the server has received.
type Request struct {
	Path           string
	IdempotencyKey string
	Authorization  string
	// Prompt is the content of the last message. For an embedding request, it is the first text.
	Prompt string
	Body   []byte
}

// Server is a provider. A Server is safe for concurrent use.
type Server struct {
	// Key is the API key that the server accepts. If Key is "", the server accepts every key. Dim
	// is the number of dimensions of vectors. The default is 4. Key and Dim must not change after
	// the first request.
	Key string
	Dim int

	http *httptest.Server
	mu   sync.Mutex

	script   []Reply
	standard Reply // used for requests after the end of the script
	requests []Request
	// The channel "arrived" is closed and replaced when a request arrives. The channel "gate" is
	// closed to let the server answer the waiting requests. If requests do not wait, the channel
	// "gate" is nil.
	arrived chan struct{}
	gate    chan struct{}
}

// Start starts a server. Close stops it.
func Start() *Server {
	s := &Server{arrived: make(chan struct{})}
	s.http = httptest.NewServer(s)
	return s
}

// URL returns the base URL of the server, such as http://127.0.0.1:1234/v1.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// Close stops the server.
func (s *Server) Close() { s.http.Close() }

// Script adds replies that the server uses for the next requests. After the script has ended, the
// server answers with the reply that Always has set. If Always was not called, this reply is the
// zero Reply.
func (s *Server) Script(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, replies...)
}

// Always sets the reply to all requests after the end of the script.
func (s *Server) Always(reply Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standard = reply
}

// Hold delays the answers to all requests. The answers are sent after the returned function has
// been called.
func (s *Server) Hold() (release func()) {
	gate := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gate = gate
	return sync.OnceFunc(func() { close(gate) })
}

// Await waits until the server has received n requests in total.
func (s *Server) Await(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		received, arrived := len(s.requests), s.arrived
		s.mu.Unlock()
		if received >= n {
			return nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return fmt.Errorf("the server received %d requests instead of %d: %w", received, n, ctx.Err())
		}
	}
}

// Requests returns the requests that the server has received.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Keys returns the number of requests for each idempotency key. Failed requests count too.
func (s *Server) Keys() map[string]int {
	counts := map[string]int{}
	for _, r := range s.Requests() {
		counts[r.IdempotencyKey]++
	}
	return counts
}

// body contains the fields of chat requests and of embedding requests.
type body struct {
	Model    string `json:"model"`
	Messages []struct {
		Content string `json:"content"`
	} `json:"messages"`
	Input []string `json:"input"`
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var raw json.RawMessage
	var in body
	if err := json.NewDecoder(r.Body).Decode(&raw); err != nil || json.Unmarshal(raw, &in) != nil {
		fail(w, http.StatusBadRequest, "the body is not valid")
		return
	}
	reply, gate := s.next(r, raw, in)
	if gate != nil {
		select {
		case <-gate:
		case <-r.Context().Done():
			return
		}
	}
	for name, value := range reply.Header {
		w.Header().Set(name, value)
	}
	if reply.Delay > 0 {
		select {
		case <-time.After(reply.Delay):
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key:
		fail(w, http.StatusUnauthorized, "Incorrect API key provided: "+r.Header.Get("Authorization"))
	case reply.Endless:
		repeat(w, r, reply.Body)
	case reply.Cut:
		w.Header().Set("Content-Length", strconv.Itoa(2*len(reply.Body)))
		fmt.Fprint(w, reply.Body)
		panic(http.ErrAbortHandler)
	case reply.Body != "":
		w.WriteHeader(max(reply.Status, http.StatusOK))
		fmt.Fprint(w, reply.Body)
	case reply.Status > http.StatusOK:
		fail(w, reply.Status, "scripted failure")
	case r.URL.Path == "/v1/chat/completions":
		answer(w, chat(reply, in))
	case r.URL.Path == "/v1/embeddings":
		answer(w, s.embeddings(in))
	default:
		fail(w, http.StatusNotFound, "no such path")
	}
}

// The method "next" records a request and returns the reply to the request. If the channel "gate"
// is not nil, the method "next" first waits until the channel is closed.
func (s *Server) next(r *http.Request, raw []byte, in body) (reply Reply, gate <-chan struct{}) {
	request := Request{Path: r.URL.Path, IdempotencyKey: r.Header.Get("Idempotency-Key"), Authorization: r.Header.Get("Authorization"), Prompt: in.prompt(), Body: raw}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request)
	close(s.arrived)
	s.arrived = make(chan struct{})
	if reply = s.standard; len(s.script) > 0 {
		reply, s.script = s.script[0], s.script[1:]
	}
	return reply, s.gate
}

func (b body) prompt() string {
	switch {
	case len(b.Messages) > 0:
		return b.Messages[len(b.Messages)-1].Content
	case len(b.Input) > 0:
		return b.Input[0]
	}
	return ""
}

type object = map[string]any

func chat(reply Reply, in body) object {
	message, finish := object{"role": "assistant", "content": reply.Text}, "stop"
	if reply.Text == "" && len(reply.Calls) == 0 {
		message["content"] = "re: " + in.prompt()
	}
	var calls []object
	for i, call := range reply.Calls {
		calls = append(calls, object{"id": fmt.Sprintf("call_%d", i+1), "type": "function", "function": object{"name": call[0], "arguments": call[1]}})
	}
	if calls != nil {
		message["tool_calls"], finish = calls, "tool_calls"
	}
	if reply.Finish != "" {
		finish = reply.Finish
	}
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "model": in.Model,
		"choices": []object{{"index": 0, "message": message, "finish_reason": finish}},
		"usage":   object{"prompt_tokens": len(in.Messages), "completion_tokens": 2, "total_tokens": len(in.Messages) + 2},
	}
}

// embeddings returns vectors that depend only on the texts.
func (s *Server) embeddings(in body) object {
	data := []object{}
	for i, text := range in.Input {
		vector := make([]float32, max(s.Dim, 0))
		if s.Dim == 0 {
			vector = make([]float32, 4)
		}
		for d := range vector {
			h := fnv.New32a()
			fmt.Fprint(h, d, text)
			vector[d] = float32(h.Sum32()%2000)/1000 - 1
		}
		data = append(data, object{"object": "embedding", "index": i, "embedding": vector})
	}
	return object{"object": "list", "model": in.Model, "data": data, "usage": object{"prompt_tokens": len(in.Input), "total_tokens": len(in.Input)}}
}

// repeat writes a body again and again until the client disconnects.
func repeat(w http.ResponseWriter, r *http.Request, body string) {
	for r.Context().Err() == nil {
		if _, err := fmt.Fprint(w, body); err != nil {
			return
		}
	}
}

func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(object{"error": object{"message": message, "type": "error", "code": status}})
}

func answer(w http.ResponseWriter, v object) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}
