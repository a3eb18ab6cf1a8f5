package host_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/model"
)

const testRunApp = `
app: helpdesk
memory:
  kb: {kind: collection, access: application}
  papers: {kind: collection, access: application, embedding: nowhere}
  visits: {access: user}
collections: auto
tools:
  answer:
    source: answer.js
    models: [claude]
    grants: {kb: readwrite, papers: readwrite, visits: readwrite, "talk*": readwrite}
`

// answerTool is a tool that uses a model, a document and two collections. The embedder of one of
// these collections is not configured.
const answerTool = `
const found = await memory.recall("kb", input.question, {limit: 5, threshold: 0.7});
const papers = await memory.recall("papers", input.question, {mode: "vector"});
const visits = (await memory.get_content("visits")) ?? {count: 0};
await memory.set_content("visits", {count: visits.count + 1});
await memory.remember("papers", input.question);
await memory.remember("talk", {q: input.question}, {namespace: "s1", ttl: "30d", id: "b", metadata: {kind: "turn"}});
await memory.remember("talk", "again", {namespace: "s1", id: "a"});
const own = await memory.recall("talk", "again", {namespace: "s1"});
const said = input.ask ? (await model.chat("claude", {messages: [{role: "user", content: input.question}]})).text : "";
return {found, papers: papers.count, visits: visits.count, own: own.count, said};
`

func openTestRuns(t *testing.T) *host.Host {
	t.Helper()
	return openApp(t, fstest.MapFS{"app.yaml": {Data: []byte(testRunApp)}, "answer.js": {Data: []byte(answerTool)}})
}

func readMocks(t *testing.T, text string) host.Invocation {
	t.Helper()
	var inv host.Invocation
	var err error
	if inv.Mocks, inv.Recalls, err = host.ReadMocks([]byte(text)); err != nil {
		t.Fatal(err)
	}
	inv.Tool, inv.Test, inv.Caller = "answer", true, host.Caller{User: "ann"}
	return inv
}

// TestTestRun checks a test run. The answers of recall and of models must come from mocks, and the
// run must find no other entries. The run must store nothing. The Result of the run must list the
// entries that remember would have stored.
func TestTestRun(t *testing.T) {
	h := openTestRuns(t)
	ann := host.Caller{User: "ann"}
	remember(t, h, ann, "kb", host.NewEntry{Content: text("is tea green")})
	inv := readMocks(t, `{"claude": ["yes"], "recall": {"kb": [["tea", {"id": "x", "content": {"a": 1}, "metadata": {"s": "u"}, "score": 0.5}]]}}`)
	inv.Input, inv.Key, inv.Live = json.RawMessage(`{"question": "is tea green", "ask": true}`), "k", true
	for range 2 { // the first run has stored nothing
		result, err := h.Run(t.Context(), inv)
		if err != nil {
			t.Fatal(err)
		}
		want := `{"found":{"results":[{"id":"1","content":"tea","metadata":{},"score":1},{"id":"x","content":{"a":1},"metadata":{"s":"u"},"score":0.5}],"count":2},"papers":0,"visits":0,"own":0,"said":"yes"}`
		if string(result.Output) != want {
			t.Errorf("output = %s; want %s", result.Output, want)
		}
		if len(result.Remembered) != 3 {
			t.Fatalf("remembered = %+v; want 3 entries", result.Remembered)
		}
		text, _ := json.Marshal(result.Remembered[1:])
		first, second := result.Remembered[0], string(text)
		if first.Collection != "papers" || first.ID == "" || string(first.Content) != `"is tea green"` || string(first.Metadata) != "{}" || first.Expires != nil {
			t.Errorf("the first remembered entry is %+v", first)
		}
		for _, part := range []string{`{"collection":"talk","namespace":"s1","id":"b","content":{"q":"is tea green"},"metadata":{"kind":"turn"},"expires_at":"`,
			`{"collection":"talk","namespace":"s1","id":"a","content":"again","metadata":{}}`} {
			if !strings.Contains(second, part) {
				t.Errorf("remembered = %s; want %s", second, part)
			}
		}
		if result.Usage.Model.Calls != 0 || len(result.Changes) != 4 {
			t.Errorf("the run made %d calls of models and has %d changes; want 0 and 4", result.Usage.Model.Calls, len(result.Changes))
		}
	}
	inv.Test, inv.DryRun, inv.Input = false, true, json.RawMessage(`{"question": "green"}`)
	inv.Live = false
	if result, err := h.Run(t.Context(), inv); err == nil {
		t.Errorf("a dry run with an embedder that is not configured succeeds: %s", result.Output)
	}
}

// TestTestRunWithoutMocks checks the default results of a test run.
func TestTestRunWithoutMocks(t *testing.T) {
	h := openTestRuns(t)
	remember(t, h, host.Caller{}, "kb", host.NewEntry{Content: text("is tea green")})
	inv := host.Invocation{Tool: "answer", Test: true, Caller: host.Caller{User: "ann"}, Input: json.RawMessage(`{"question": "is tea green"}`)}
	result, err := h.Run(t.Context(), inv)
	if err != nil || !strings.HasPrefix(string(result.Output), `{"found":{"results":[],"count":0}`) {
		t.Errorf("a test run = %s, %v; want no results", result.Output, err)
	}
	inv.Input = json.RawMessage(`{"question": "is tea green", "ask": true}`)
	result, err = h.Run(t.Context(), inv)
	if want := `add answers of the model to the mocks: {"claude": ["a text"]}`; !errors.Is(err, abi.Unavailable) || result.Error.Hint != want || result.Remembered != nil {
		t.Errorf("a test run with a call to a model = %v, remembered %v; want the hint %s", err, result.Remembered, want)
	}
}

// TestMocksOfRecall checks the mocks of recall. TestMocksOfRecall uses them in runs that are not
// test runs, and in test runs that call recall more often than the mocks contain results.
func TestMocksOfRecall(t *testing.T) {
	h := openTestRuns(t)
	const kb = `{"recall": {"kb": [["tea"]], "papers": [[]], "talk": [[], {"error": {"code": "timeout"}}]}}`
	inv := readMocks(t, kb)
	inv.Recalls["papers"] = nil
	inv.Input = json.RawMessage(`{"question": "tea"}`)
	if _, err := h.Run(t.Context(), inv); !errors.Is(err, abi.Unavailable) {
		t.Errorf("a call without a result = %v; want unavailable", err)
	}
	inv.Recalls["papers"], inv.Recalls["talk"] = inv.Recalls["talk"], inv.Recalls["talk"][1:]
	if _, err := h.Run(t.Context(), inv); !errors.Is(err, abi.Timeout) {
		t.Errorf("a call with the mock of an error = %v; want timeout", err)
	}
}

// TestMocksOfUnknownCollection checks the warning about mocks for a collection that is not declared.
// An app with undeclared collections must not cause this warning.
func TestMocksOfUnknownCollection(t *testing.T) {
	for declared, want := range map[string][]string{
		"":                    {`the mocks contain results of the collection "artcles", which the app does not declare; did you mean "articles"?`},
		"collections: auto\n": {},
	} {
		h := openApp(t, fstest.MapFS{
			"app.yaml":  {Data: []byte("app: test\nmemory:\n  articles: {kind: collection, access: application}\n" + declared + "tools:\n  answer: {source: answer.js, grants: {articles: read}}\n")},
			"answer.js": {Data: []byte(`return (await memory.recall("articles", "tea")).count`)},
		})
		inv := readMocks(t, `{"recall": {"artcles": [["tea"]]}}`)
		result, err := h.Run(t.Context(), inv)
		if err != nil || string(result.Output) != "0" || !slices.Equal(result.Warnings, want) {
			t.Errorf("with %q, the run returns %s, %v and the warnings %q; want %q", declared, result.Output, err, result.Warnings, want)
		}
	}
}

func TestReadMocks(t *testing.T) {
	for content, want := range map[string]string{
		`{}`:                     "",
		`{"recall": ["a text"]}`: "", // here, recall is the name of a model
		`{"recall": {}}`:         "",
		`{"recall": {"kb": [["a", {"content": [1]}], []]}}`:          "",
		`{"recall": {"kb": 1}}`:                                      "the mocks of recall must be a JSON object that maps each collection to a list of results",
		`{"recall": {"kb": ["a"]}}`:                                  `result 1 of the mocks for the collection "kb" is neither a list of entries nor an error`,
		`{"recall": {"kb": [[], {}]}}`:                               `result 2 of the mocks for the collection "kb" is neither a list of entries nor an error`,
		`{"recall": {"kb": [{"error": {"code": "x"}}]}}`:             `result 1 of the mocks for the collection "kb" has an unknown error code`,
		`{"recall": {"kb": [[{"metadata": {}}]]}}`:                   `has an invalid entry 1: the content is missing`,
		`{"recall": {"kb": [["a", {"content": 1, "metadata": 1}]]}}`: `has an invalid entry 2: the metadata must be an object`,
		`{"recall": {"kb": [[{"content": 1, "score": 2}]]}}`:         `has an invalid entry 1: the score must be a number from 0 to 1`,
		`{"recall": {"kb": [[{"content": 1, "text": 2}]]}}`:          `has an invalid entry 1: an entry is a text, or an object with content, metadata, score and id`,
		`{"recall": {"kb": [[null]]}}`:                               `has an invalid entry 1`,
		`[]`:                                                         "the mocks must be a JSON object",
		`{"recall": {}, "recall": {}}`:                               "the mocks are not valid JSON",
	} {
		mocks, recalls, err := host.ReadMocks([]byte(content))
		if want == "" && err != nil || want != "" && (!errors.Is(err, abi.InvalidArgument) || !strings.Contains(err.Error(), want)) {
			t.Errorf("ReadMocks(%s) = %v; want %q", content, err, want)
		}
		if err != nil {
			continue
		}
		written := host.WriteMocks(mocks, recalls)
		again, found, err := host.ReadMocks(written)
		if rewritten := host.WriteMocks(again, found); err != nil || string(rewritten) != string(written) {
			t.Errorf("ReadMocks(WriteMocks(%s)) = %s, %v; want %s", content, rewritten, err, written)
		}
	}
	if text := host.WriteMocks(model.Mocks(nil), nil); text != nil {
		t.Errorf("WriteMocks without mocks = %s; want nil", text)
	}
}
