package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/model"
)

// openMachines opens a host whose tools are machines. The keys of the argument "sources" are the
// names of the machines. Each value is the file of a machine without its first line.
func openMachines(t *testing.T, machines map[string]string, change ...func(*host.Options)) *host.Host {
	t.Helper()
	files := fstest.MapFS{}
	config := "app: test\ncollections: auto\nmemory:\n  kb: {kind: collection, access: application, erase: never}\ntools:\n"
	for name, source := range machines {
		config += fmt.Sprintf("  %s: {source: %s.machine, description: a machine}\n", name, name)
		files[name+".machine"] = &fstest.MapFile{Data: []byte("machine " + name + "\n" + source)}
	}
	files["app.yaml"] = &fstest.MapFile{Data: []byte(config)}
	return openApp(t, files, change...)
}

// runMachine runs a machine and returns its output.
func runMachine(t *testing.T, h *host.Host, name, input string, mocks model.Mocks) string {
	t.Helper()
	result, err := h.Run(t.Context(), host.Invocation{Tool: name, Caller: ann, Input: json.RawMessage(input), Mocks: mocks})
	if err != nil {
		t.Fatalf("%s of %s = %v", name, input, err)
	}
	return string(result.Output)
}

const (
	ingestMachine = `accepts
  text as text
  metadata as object
ensures
  permissions
    allowed to memory
implements
  remember entry
    content: input.text
    collection: "kb"
    metadata: input.metadata
`
	findMachine = `accepts
  query as text
  filter as object
  limit as number, default 10
ensures
  permissions
    allowed to memory
implements
  recall found
    query: input.query
    collection: "kb"
    filter: input.filter
    limit: input.limit
`
	talkMachine = `accepts
  message as text, is required
  session_id as text, is required
ensures
  permissions
    allowed to
      llm_call, memory
implements
  recall history
    query: input.message
    collection: "conversations"
    namespace: input.session_id
  ask respond, using: "large"
    with role "Use the conversation history."
    with task "Context:\n${steps.history.results.map(r => r.content).join('\n')}\n\nUser: ${input.message}"
    returns
      reply as text
  remember turn
    content: "User: " + input.message + "\nAssistant: " + steps.respond.reply
    collection: "conversations"
    namespace: input.session_id
    ttl: "90d"
  compute result
    {found: history.count, id: turn.id}
`
)

// The ledger contains the entries that a machine reads and writes. If a machine lacks a permission
// or its tool lacks a grant, the machine is not executed, and the ledger contains the fault.
func TestMachineMemoryIsGoverned(t *testing.T) {
	files := fstest.MapFS{
		"app.yaml": {Data: []byte("app: test\nmemory:\n  kb: {kind: collection, access: application}\ntools:\n" +
			"  ingest: {source: ingest.machine}\n  find: {source: find.machine}\n  forbidden: {source: forbidden.machine}\n  ungranted: {source: find.machine, grants: {kb: write}}\n")},
		"ingest.machine":    {Data: []byte("machine ingest\n" + ingestMachine)},
		"find.machine":      {Data: []byte("machine find\n" + findMachine)},
		"forbidden.machine": {Data: []byte("machine forbidden\n" + strings.Replace(findMachine, "allowed to memory", "not allowed to memory", 1))},
	}
	h := openApp(t, files, keepLedger)
	runMachine(t, h, "ingest", `{"text":"green tea","metadata":{}}`, nil)
	runMachine(t, h, "find", `{"query":"tea","filter":{}}`, nil)
	for tool, want := range map[string]abi.Code{"forbidden": abi.SourceInvalid, "ungranted": abi.AccessDenied} {
		_, err := h.Run(t.Context(), host.Invocation{Tool: tool, Caller: ann, Input: json.RawMessage(`{"query":"tea","filter":{}}`)})
		if !errors.Is(err, want) {
			t.Errorf("%s = %v; want %s", tool, err, want)
		}
	}
	var acts []string
	for _, e := range entries(t, h, ledger.Query{Limit: 100}) {
		act := e.Tool + " " + string(e.Code)
		for _, r := range e.Reads {
			act += " read " + r.Store
		}
		for _, w := range e.Writes {
			act += " write " + w.Store
		}
		acts = append(acts, strings.TrimSpace(act))
	}
	slices.Sort(acts)
	for i, want := range []string{"find  read kb", "forbidden source_invalid", "ingest  write kb", "ungranted access_denied"} {
		if i >= len(acts) || !strings.HasPrefix(acts[i], want) {
			t.Errorf("the ledger contains %q; want %q", acts, want)
		}
	}
}

// A step "recall" returns the number of results, and the content, metadata and score of each
// result.
func TestMachineResults(t *testing.T) {
	h := openMachines(t, map[string]string{"ingest": ingestMachine, "find": findMachine})
	runMachine(t, h, "ingest", `{"text":"green tea","metadata":{"source":"x"}}`, nil)
	runMachine(t, h, "ingest", `{"text":"black tea with milk","metadata":{"source":"y"}}`, nil)
	var found struct {
		Results []struct {
			Content  string
			Metadata struct{ Source string }
			Score    float64
		}
		Count int
	}
	text := runMachine(t, h, "find", `{"query":"green tea","filter":{}}`, nil)
	if err := json.Unmarshal([]byte(text), &found); err != nil || found.Count != 2 || len(found.Results) != 2 {
		t.Fatalf("recall = %s, %v; want two results", text, err)
	}
	first, second := found.Results[0], found.Results[1]
	if first.Content != "green tea" || first.Metadata.Source != "x" || second.Metadata.Source != "y" {
		t.Errorf("recall = %s; want the best result first", text)
	}
	if !(first.Score <= 1 && first.Score > second.Score && second.Score > 0) {
		t.Errorf("the scores are %v and %v; want them from 0 to 1, the best first", first.Score, second.Score)
	}
}

// If a machine first recalls entries and then remembers an entry, the recall does not find this
// entry, but only entries of earlier runs.
func TestRecallPrecedesRemember(t *testing.T) {
	h := openMachines(t, map[string]string{"talk": talkMachine})
	for turn, want := range []string{`{"found":0,`, `{"found":1,`, `{"found":2,`} {
		reply := model.Mocks{"large": {{Object: json.RawMessage(`{"reply":"Yes"}`)}}}
		if got := runMachine(t, h, "talk", `{"message":"Where is my cup?","session_id":"s1"}`, reply); !strings.HasPrefix(got, want) {
			t.Errorf("turn %d = %s; want %s", turn, got, want)
		}
	}
}

// Each conversation has its own namespace, and finds no entries of other conversations. Each entry
// expires after its ttl.
func TestConversationsEnd(t *testing.T) {
	clock := newTestClock()
	h := openMachines(t, map[string]string{"talk": talkMachine}, func(o *host.Options) { o.Now = clock.now })
	for _, turn := range []struct {
		session string
		after   time.Duration
		want    string
	}{
		{"s1", 0, `{"found":0,`},
		{"s2", 0, `{"found":0,`},
		{"s1", 90*24*time.Hour - time.Second, `{"found":1,`},
		{"s1", time.Second, `{"found":1,`}, // the first entry has expired, the second has not
		{"s2", 0, `{"found":0,`},
	} {
		clock.advance(turn.after)
		reply := model.Mocks{"large": {{Object: json.RawMessage(`{"reply":"Yes"}`)}}}
		if got := runMachine(t, h, "talk", `{"message":"Where is my cup?","session_id":"`+turn.session+`"}`, reply); !strings.HasPrefix(got, turn.want) {
			t.Errorf("the turn in %s = %s; want %s", turn.session, got, turn.want)
		}
	}
	clock.advance(90*24*time.Hour + 2*time.Hour)
	if n, err := h.Sweep(t.Context()); err != nil || n < 5 {
		t.Errorf("Sweep = %d, %v; want the entries removed", n, err)
	}
}

// Each entry that a search returns must match all pairs of the filter, even if other entries are
// more similar to the query.
func TestFilterPrecedesSearch(t *testing.T) {
	for name, n := range map[string]int{"without an index": 20, "with an index": 400} {
		t.Run(name, func(t *testing.T) {
			h := openMachines(t, map[string]string{"find": findMachine})
			entries := make([]host.NewEntry, 0, n)
			for range n {
				entries = append(entries, host.NewEntry{Content: json.RawMessage(`"product quality issues"`), Metadata: json.RawMessage(`{"category":"complaint","urgency":"low"}`)})
			}
			entries = append(entries, host.NewEntry{ID: "x", Content: json.RawMessage(`"some issues and many other words that are less similar"`), Metadata: json.RawMessage(`{"category":"complaint","urgency":"high"}`)})
			for part := range slices.Chunk(entries, host.MaxRemembered) {
				if _, err := host.CollectionsOf(h).Remember(t.Context(), host.Caller{}, "kb", part...); err != nil {
					t.Fatal(err)
				}
			}
			got := runMachine(t, h, "find", `{"query":"product quality issues","limit":1,"filter":{"category":"complaint","urgency":"high"}}`, nil)
			if !strings.Contains(got, `"id":"x"`) || !strings.Contains(got, `"count":1`) {
				t.Errorf("recall = %s; want the only entry that matches both pairs", got)
			}
		})
	}
}

// An expression can use "now()", "+", substitutions and "join". An expression can also use "map"
// with a function. If a value contains the text of a substitution, this text is inserted without
// being evaluated.
func TestMachineExpressions(t *testing.T) {
	h := openMachines(t, map[string]string{"expressions": `accepts
  a as text
  list as list
ensures
  permissions
    allowed to
      llm_call, memory
implements
  remember entry
    content: "User: " + input.a + "\nAt: ${input.list.map(x => x.n).join(", ")}"
    collection: "kb"
    metadata: {at: now(), sum: 1 + 2, nested: {deep: [input.a]}}
  recall found
    query: "user"
    collection: "kb"
  ask reply, using: "large"
    with task "${input.a} ${found.results[0].content}"
  compute result
    {content: found.results[0].content, metadata: found.results[0].metadata, text: reply.text}
`})
	injected := "${input.list} ${1+1} `${process}` \\${steps}"
	in, _ := json.Marshal(map[string]any{"a": injected, "list": []any{map[string]int{"n": 1}, map[string]int{"n": 2}}})
	var got struct {
		Content, Text string
		Metadata      struct {
			At     string
			Sum    int
			Nested struct{ Deep []string }
		}
	}
	text := runMachine(t, h, "expressions", string(in), model.Mocks{"large": {{Text: "done"}}})
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if want := "User: " + injected + "\nAt: 1, 2"; got.Content != want || got.Text != "done" {
		t.Errorf("the content is %q; want %q", got.Content, want)
	}
	if _, err := time.Parse("2006-01-02T15:04:05.000Z", got.Metadata.At); err != nil || got.Metadata.Sum != 3 || len(got.Metadata.Nested.Deep) != 1 || got.Metadata.Nested.Deep[0] != injected {
		t.Errorf("the metadata are %+v", got.Metadata)
	}
}
