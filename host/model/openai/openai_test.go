package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/journal"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/model/openai"
)

const secretKey = "sk-secret-key"

func start(t *testing.T) *modeltest.Server {
	s := modeltest.Start()
	s.Key = secretKey
	t.Cleanup(s.Close)
	return s
}

func provider(t *testing.T, s *modeltest.Server, change func(*openai.Options)) *openai.Provider {
	t.Helper()
	options := openai.Options{BaseURL: s.URL(), Model: "m", Key: secretKey, Backoff: time.Millisecond}
	if change != nil {
		change(&options)
	}
	p, err := openai.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ask(prompt string) model.ChatRequest {
	return model.ChatRequest{Messages: []model.Message{{Role: model.User, Content: prompt}}, IdempotencyKey: "key of " + prompt}
}

func TestChat(t *testing.T) {
	s := start(t)
	p := provider(t, s, nil)
	answer, err := p.Chat(t.Context(), ask("hello"))
	if err != nil || answer.Text != "re: hello" || answer.Usage != (model.Usage{InputTokens: 1, OutputTokens: 2}) {
		t.Errorf("Chat() = %+v, %v; want the answer with its usage", answer, err)
	}

	s.Script(modeltest.Reply{Text: `{"n": 1}`}, modeltest.Reply{Calls: [][2]string{{"add", `{"n": 1}`}}}, modeltest.Reply{Text: "cut", Finish: "length"})
	request := ask("object")
	request.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	if answer, err := p.Chat(t.Context(), request); err != nil || string(answer.Object) != `{"n":1}` {
		t.Errorf("Chat() with a schema = %+v, %v; want the object", answer, err)
	}
	request = ask("tools")
	request.Messages = append(request.Messages,
		model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "c1", Name: "add", Arguments: json.RawMessage(`{"n":0}`)}}},
		model.Message{Role: model.ToolRole, ToolCallID: "c1", Content: "done"})
	request.Tools, request.MaxTokens = []model.Tool{{Name: "add", Description: "adds"}}, 9
	if answer, err := p.Chat(t.Context(), request); err != nil || len(answer.ToolCalls) != 1 || string(answer.ToolCalls[0].Arguments) != `{"n":1}` {
		t.Errorf("Chat() with tools = %+v, %v; want a tool call", answer, err)
	}
	if answer, err := p.Chat(t.Context(), ask("long")); err != nil || !answer.Truncated {
		t.Errorf("Chat() = %+v, %v; want a truncated text", answer, err)
	}

	sent := s.Requests()
	for i, want := range [][]string{
		{`"model":"m"`, `"role":"user"`},
		{`"response_format":{"type":"json_schema"`, `"schema":{"type":"object"`},
		{`"max_tokens":9`, `"tool_call_id":"c1"`, `"name":"add"`, `"parameters":{"type":"object"}`},
	} {
		for _, part := range want {
			if !strings.Contains(string(sent[i].Body), part) {
				t.Errorf("request %d is %s; want it to contain %s", i, sent[i].Body, part)
			}
		}
	}
	if sent[0].IdempotencyKey != "key of hello" {
		t.Errorf("Idempotency-Key = %q; want the key of the request", sent[0].IdempotencyKey)
	}
}

func TestRetry(t *testing.T) {
	for name, tc := range map[string]struct {
		script []modeltest.Reply
		want   abi.Code // "" for an answer
		sent   int
	}{
		"429 and 503":     {[]modeltest.Reply{{Status: 429}, {Status: 503}}, "", 3},
		"too many":        {[]modeltest.Reply{{Status: 429}, {Status: 500}, {Status: 502}, {Status: 529}}, abi.Unavailable, 4},
		"400":             {[]modeltest.Reply{{Status: 400}}, abi.InvalidArgument, 1},
		"401":             {[]modeltest.Reply{{Status: 401}}, abi.Unavailable, 1},
		"501":             {[]modeltest.Reply{{Status: 501}}, abi.Unavailable, 1},
		"long retryafter": {[]modeltest.Reply{{Status: 429, Header: map[string]string{"Retry-After": "3600"}}}, abi.Unavailable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.Script(tc.script...)
			_, err := provider(t, s, nil).Chat(t.Context(), ask("x"))
			if tc.want == "" && err != nil || tc.want != "" && !errors.Is(err, tc.want) {
				t.Errorf("Chat() = %v; want %q", err, tc.want)
			}
			if sent := s.Keys()["key of x"]; sent != tc.sent {
				t.Errorf("the request was sent %d times with its key; want %d", sent, tc.sent)
			}
			for _, r := range s.Requests() {
				if r.Prompt != "x" {
					t.Errorf("a try has the prompt %q; want x", r.Prompt)
				}
			}
		})
	}
}

func TestFaults(t *testing.T) {
	object := ask("x")
	object.Schema = json.RawMessage(`{"type":"object"}`)
	wrong := func(o *openai.Options) { o.Key = "sk-wrong-secret" }
	small := func(o *openai.Options) { o.AnswerBytes = 1000 }
	short := func(o *openai.Options) { o.Timeout = 20 * time.Millisecond }
	for name, tc := range map[string]struct {
		reply   modeltest.Reply
		request model.ChatRequest
		change  func(*openai.Options)
		want    abi.Code
		message string
	}{
		"credentials":      {modeltest.Reply{}, ask("x"), wrong, abi.Unavailable, "credentials"},
		"timeout":          {modeltest.Reply{Delay: time.Hour}, ask("x"), short, abi.Timeout, "in time"},
		"shape":            {modeltest.Reply{Text: `["secret"]`}, object, nil, abi.SchemaViolation, "answer"},
		"not JSON":         {modeltest.Reply{Text: "secret"}, object, nil, abi.SchemaViolation, "JSON"},
		"too large":        {modeltest.Reply{Text: strings.Repeat("secret", 1000)}, ask("x"), small, abi.TooLarge, "1000 bytes"},
		"large error":      {modeltest.Reply{Status: 400, Body: strings.Repeat("secret", 1000)}, ask("x"), small, abi.TooLarge, "1000 bytes"},
		"truncated object": {modeltest.Reply{Text: "{", Finish: "length"}, object, nil, abi.TooLarge, "tokens"},
		"refusal":          {modeltest.Reply{Finish: "content_filter"}, ask("x"), nil, abi.Unavailable, "refused"},
		"malformed":        {modeltest.Reply{Body: `{"choices": secret`}, ask("x"), nil, abi.Unavailable, "malformed"},
		"wrong type":       {modeltest.Reply{Body: `{"choices": "secret"}`}, ask("x"), nil, abi.Unavailable, "malformed"},
		"empty":            {modeltest.Reply{Body: `{}`}, ask("x"), nil, abi.Unavailable, "no answer"},
		"plain error":      {modeltest.Reply{Status: 400, Body: "<html>secret</html>"}, ask("x"), nil, abi.InvalidArgument, "status 400"},
		"quotes the key":   {modeltest.Reply{Status: 400, Body: `{"error":{"message":"bad ` + secretKey + ` at\u0007\n127.0.0.1"}}`}, ask("x"), nil, abi.InvalidArgument, "bad *** at ***"},
		"long error":       {modeltest.Reply{Status: 400, Body: `{"error":{"message":"` + strings.Repeat("long ", 100) + `secret"}}`}, ask("x"), nil, abi.InvalidArgument, "long"},
		"invalid request":  {modeltest.Reply{}, model.ChatRequest{}, nil, abi.InvalidArgument, "no messages"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.Script(tc.reply)
			_, err := provider(t, s, tc.change).Chat(t.Context(), tc.request)
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.message) {
				t.Fatalf("Chat() = %v; want %s with %q", err, tc.want, tc.message)
			}
			text, _ := json.Marshal(abi.FaultOf(err))
			for _, leak := range []string{"secret", "127.0.0.1", s.URL()} {
				if strings.Contains(string(text), leak) {
					t.Errorf("Chat() = %s; want no %q", text, leak)
				}
			}
			if len(text) > 500 {
				t.Errorf("the fault has %d bytes; want a short message", len(text))
			}
		})
	}
}

func TestCancelAndUnreachable(t *testing.T) {
	s := start(t)
	s.Script(modeltest.Reply{Delay: time.Hour})
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(abi.Faultf(abi.SessionEnded, "over")) })
	if _, err := provider(t, s, nil).Chat(ctx, ask("x")); !errors.Is(err, abi.SessionEnded) {
		t.Errorf("Chat() with a cancelled context = %v; want the fault of the cause", err)
	}
	s.Close()
	_, err := provider(t, s, func(o *openai.Options) { o.BaseURL = strings.Replace(s.URL(), "http://", "http://user:secret@", 1) }).Chat(t.Context(), ask("x"))
	if !errors.Is(err, abi.Unavailable) || strings.Contains(err.Error(), "127.0.0.1") || strings.Contains(err.Error(), "secret") {
		t.Errorf("Chat() without a server = %v; want unavailable, without the address", err)
	}
}

// If the connection is lost after a request was sent, the request is not retried, because the
// provider may have processed it.
func TestLostConnection(t *testing.T) {
	s := start(t)
	var received atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if received.Add(1) == 1 {
			s.ServeHTTP(w, r)
			return
		}
		io.Copy(io.Discard, r.Body)
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		connection.Close()
	}))
	defer server.Close()
	p := provider(t, s, func(o *openai.Options) { o.BaseURL = server.URL + "/v1" })
	if _, err := p.Chat(t.Context(), ask("first")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Chat(t.Context(), ask("second")); !errors.Is(err, abi.Unavailable) || received.Load() != 2 {
		t.Errorf("Chat() = %v after %d requests; want unavailable after 2, without a retry", err, received.Load())
	}
}

// This test repeats runs after conflicts. The provider limits the rate of requests. The provider
// must answer each prompt exactly once.
func TestJournaledPromptsArePaidOnce(t *testing.T) {
	s := start(t)
	p := provider(t, s, nil)
	s.Script(modeltest.Reply{Status: 429}, modeltest.Reply{Status: 503})
	var runs sync.WaitGroup
	for run := range 8 {
		runs.Go(func() {
			j := journal.New(fmt.Sprint("run ", run), journal.Limits{})
			for range 3 {
				attempt, err := j.Begin()
				if err != nil {
					t.Error(err)
					return
				}
				for _, prompt := range []string{"a", "b", "a"} {
					request := ask(prompt)
					canonical, err := request.Canonical()
					if err != nil {
						t.Error(err)
					}
					_, err = attempt.Do(t.Context(), journal.Request{Kind: "chat", Target: "m", Body: canonical}, func(ctx context.Context, key string) ([]byte, error) {
						request.IdempotencyKey = key
						answer, err := p.Chat(ctx, request)
						return []byte(answer.Text), err
					})
					if err != nil {
						t.Errorf("Do(%s) = %v", prompt, err)
					}
				}
				if err := attempt.End(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	runs.Wait()
	const prompts, failures = 8 * 3, 2
	if keys, sent := len(s.Keys()), len(s.Requests()); keys != prompts || sent != prompts+failures {
		t.Errorf("the provider got %d keys in %d requests; want %d, and %d that failed", keys, sent, prompts, failures)
	}
}

func TestRedirects(t *testing.T) {
	target := start(t)
	hops := 0
	var origin *httptest.Server
	origin = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away/chat/completions":
			http.Redirect(w, r, target.URL()+"/chat/completions", http.StatusTemporaryRedirect)
		case "/moved/chat/completions":
			hops++
			http.Redirect(w, r, origin.URL+"/v1/chat/completions", http.StatusTemporaryRedirect)
		default:
			target.ServeHTTP(w, r)
		}
	}))
	defer origin.Close()
	at := func(path string) *openai.Provider {
		return provider(t, target, func(o *openai.Options) { o.BaseURL = origin.URL + path })
	}
	if _, err := at("/away").Chat(t.Context(), ask("x")); !errors.Is(err, abi.Unavailable) || len(target.Requests()) > 0 {
		t.Errorf("Chat() = %v; want unavailable and no request to the other host", err)
	}
	if answer, err := at("/moved").Chat(t.Context(), ask("x")); err != nil || answer.Text != "re: x" || hops != 1 {
		t.Errorf("Chat() = %+v, %v; want a redirect within the host to be followed", answer, err)
	}
}

func TestProxy(t *testing.T) {
	s, proxied := start(t), 0
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxied++
		s.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	// The host in the URL does not exist. Therefore only the proxy can answer the request.
	use := func(o *openai.Options) { o.BaseURL, o.Proxy, o.Tries = "http://model.invalid/v1", proxy.URL, 1 }
	if _, err := provider(t, s, use).Chat(t.Context(), ask("x")); err != nil || proxied != 1 {
		t.Errorf("Chat() with a proxy = %v, %d requests; want one request through the proxy", err, proxied)
	}
}

func TestNewRejects(t *testing.T) {
	for name, options := range map[string]openai.Options{
		"empty":  {},
		"no URL": {BaseURL: "local", Model: "m"},
		"scheme": {BaseURL: "ftp://secret@h", Model: "m"},
		"query":  {BaseURL: "http://h?key=secret", Model: "m"},
		"broken": {BaseURL: "http://secret:%zz@h", Model: "m"},
		"model":  {BaseURL: "http://h"},
		"proxy":  {BaseURL: "http://h", Model: "m", Proxy: "secret"},
	} {
		if _, err := openai.New(options); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: New() = %v; want an error without the URL", name, err)
		}
	}
}

func TestEmbed(t *testing.T) {
	s := start(t)
	p := provider(t, s, nil)
	e, err := p.Embedder(openai.EmbedOptions{Dim: 4, QueryPrefix: "query: "})
	if err != nil {
		t.Fatal(err)
	}
	vectors, usage, err := e.Embed(t.Context(), []string{"a", "b"}, model.Document)
	if err != nil || len(vectors) != 2 || len(vectors[0]) != e.Dim() || usage.InputTokens != 2 {
		t.Fatalf("Embed() = %v, %+v, %v; want two vectors", vectors, usage, err)
	}
	query, _, err := e.Embed(t.Context(), []string{"a"}, model.Query)
	if err != nil || s.Requests()[1].Prompt != "query: a" || query[0][0] == vectors[0][0] {
		t.Errorf("Embed() of a query = %v, %v; want the prefix to be sent", query, err)
	}
	vector := func(index, dim string) string { return `{"index":` + index + `,"embedding":[` + dim + `]}` }
	good := vector("0", "2,0,0,0")
	s.Script(modeltest.Reply{Body: `{"data":[` + vector("1", "0,5,0,0") + "," + good + `]}`})
	if got, _, err := e.Embed(t.Context(), []string{"a", "b"}, model.Document); err != nil || got[0][0] != 1 || got[1][1] != 1 {
		t.Errorf("Embed() = %v, %v; want vectors of unit length by index", got, err)
	}
	for name, data := range map[string]string{
		"too few": good, "same index": good + "," + good, "index": good + "," + vector("2", "1,2,3,4"),
		"dimensions": good + "," + vector("1", "1,2,3"), "overflow": good + "," + vector("1", "1,2,3,1e99"),
	} {
		s.Script(modeltest.Reply{Body: `{"data":[` + data + `]}`})
		if got, _, err := e.Embed(t.Context(), []string{"a", "b"}, model.Document); !errors.Is(err, abi.Unavailable) {
			t.Errorf("%s: Embed() = %v, %v; want unavailable", name, got, err)
		}
	}
	sent := len(s.Requests())
	if _, _, err := e.Embed(t.Context(), nil, model.Query); err != nil {
		t.Errorf("Embed() of no texts = %v; want no error", err)
	}
	if _, _, err := e.Embed(t.Context(), []string{"a"}, "other"); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("Embed() with an unknown purpose = %v; want invalid_argument", err)
	}
	if _, _, err := e.Embed(t.Context(), make([]string, e.MaxTexts()+1), model.Query); !errors.Is(err, abi.TooLarge) {
		t.Errorf("Embed() of many texts = %v; want too_large", err)
	}
	if _, _, err := e.Embed(t.Context(), []string{strings.Repeat("a", model.MaxRequestBytes+1)}, model.Document); !errors.Is(err, abi.TooLarge) {
		t.Errorf("Embed() of a large text = %v; want too_large", err)
	}
	if len(s.Requests()) != sent {
		t.Error("a rejected request was sent; want no request")
	}
	other, err := p.Embedder(openai.EmbedOptions{Dim: 4})
	if err != nil || other.ID() == e.ID() {
		t.Errorf("ID() = %q, %v; want another id with another prefix", other.ID(), err)
	}
	if _, err := p.Embedder(openai.EmbedOptions{}); err == nil {
		t.Error("Embedder without Dim succeeded; want an error")
	}
}
