package host_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// languagesApp has a tool that performs the steps of its input; see package abi/abitest. Each
// language has a version of this tool.
const languagesApp = `
app: languages
memory:
  kb: {kind: collection, access: user, retention: 90d}
  closed: {kind: collection, access: user}
collections: auto
tools:
  tool: {source: SOURCE, grants: {kb: [read, write, delete], "chat*": [read, write, delete]}}
`

// stepTools contains the versions of the tool in languages that need no compilation.
var stepTools = map[string]string{
	"tool.js": `
const replies = [];
for (const s of input.steps) {
  const args = [s.store];
  if ("value" in s) args.push(s.value);
  if ("options" in s) args.push(s.options);
  try { replies.push({reply: await memory[s.call](...args)}) } catch (e) { replies.push({fault: {code: e.code, op: e.op, store: e.store}}) }
}
return {replies};
`,
	"tool.py": `
replies = []
for s in input["steps"]:
    args = [s["store"]] + [s[name] for name in ("value", "options") if name in s]
    try:
        replies.append({"reply": getattr(memory, s["call"])(*args)})
    except MemoryAccessError as e:
        replies.append({"fault": {"code": e.code, "op": e.op, "store": e.store}})
return {"replies": replies}
`,
}

// collectionSteps are the steps of a run. Each step contains the expected reply. The expected
// replies contain no scores. The test only checks that a score is the same in all languages. If a
// step must fail, its expected reply is the fault code.
var collectionSteps = []struct{ step, want string }{
	{`{"call":"recall","store":"kb","value":"tea"}`, `{"results":[],"count":0}`},
	{`{"call":"remember","store":"kb","value":"green tea","options":{"id":"1","metadata":{"team":"a","year":2020},"ttl":"30d"}}`,
		`{"success":true,"id":"1","expires_at":"2026-03-31T12:00:00.000000Z"}`},
	{`{"call":"remember","store":"kb","value":"black tea","options":{"id":"2","metadata":{"team":"b","year":2030}}}`,
		`{"success":true,"id":"2","expires_at":"2026-05-30T12:00:00.000000Z"}`},
	{`{"call":"remember","store":"kb","value":{"drink":"white tea"},"options":{"id":"3","namespace":"s1"}}`,
		`{"success":true,"id":"3","expires_at":"2026-05-30T12:00:00.000000Z"}`},
	{`{"call":"recall","store":"kb","value":"green tea","options":{"limit":1}}`,
		`{"results":[{"id":"1","content":"green tea","metadata":{"team":"a","year":2020}}],"count":1}`},
	{`{"call":"recall","store":"kb","value":"tea","options":{"filter":{"team":{"in":["b","c"]},"year":{"gte":2025}}}}`,
		`{"results":[{"id":"2","content":"black tea","metadata":{"team":"b","year":2030}}],"count":1}`},
	{`{"call":"recall","store":"kb","value":"tea","options":{"namespace":"s1","mode":"text","threshold":0.1}}`,
		`{"results":[{"id":"3","content":{"drink":"white tea"},"metadata":{}}],"count":1}`},
	{`{"call":"recall","store":"kb","value":"tea","options":{"namespace":"s2"}}`, `{"results":[],"count":0}`},
	{`{"call":"recall","store":"kb","value":""}`, `invalid_argument`},
	{`{"call":"recall","store":"kb","value":"tea","options":{"limit":0}}`, `invalid_argument`},
	{`{"call":"recall","store":"kb","value":"tea","options":{"filter":{"team":{"like":"a"}}}}`, `invalid_argument`},
	{`{"call":"recall","store":"kb","value":"tea","options":{"nope":1}}`, `invalid_argument`},
	{`{"call":"remember","store":"kb","value":null}`, `invalid_argument`},
	{`{"call":"remember","store":"kb","value":"tea","options":{"ttl":"91d"}}`, `invalid_argument`},
	{`{"call":"remember","store":"closed","value":"tea"}`, `not_found`},
	{`{"call":"recall","store":"other","value":"tea"}`, `not_found`},
	{`{"call":"forget","store":"kb","options":{}}`, `invalid_argument`},
	{`{"call":"forget","store":"kb","options":{"id":null,"namespace":"s1"}}`, `invalid_argument`},
	{`{"call":"forget","store":"kb","options":{"filter":{"team":"b"}}}`, `{"count":1,"more":false}`},
	{`{"call":"forget","store":"kb","options":{"id":"2"}}`, `{"count":0,"more":false}`},
	{`{"call":"remember","store":"kb","value":"oolong","options":{"id":"n","namespace":"null","metadata":{"team":null}}}`,
		`{"success":true,"id":"n","expires_at":"2026-05-30T12:00:00.000000Z"}`},
	{`{"call":"recall","store":"kb","value":"oolong","options":{"namespace":"null","filter":{"team":null}}}`,
		`{"results":[{"id":"n","content":"oolong","metadata":{"team":null}}],"count":1}`},
	{`{"call":"forget","store":"kb","options":{"namespace":"null","filter":{"team":null}}}`, `{"count":1,"more":false}`},
	{`{"call":"remember","store":"chats","value":"a grün tea 😀","options":{"id":"m","namespace":"größe"}}`, `{"success":true,"id":"m","expires_at":null}`},
	{`{"call":"recall","store":"chats","value":"grün","options":{"namespace":"größe"}}`, `{"results":[{"id":"m","content":"a grün tea 😀","metadata":{}}],"count":1}`},
}

// laterSteps are the steps of a second run.
var laterSteps = []struct{ step, want string }{
	{`{"call":"recall","store":"kb","value":"tea"}`, `{"results":[{"id":"1","content":"green tea","metadata":{"team":"a","year":2020}}],"count":1}`},
	{`{"call":"forget","store":"kb","options":{"namespace":"s1"}}`, `{"count":1,"more":false}`},
	{`{"call":"forget","store":"kb","options":{"all":true}}`, `{"count":1,"more":false}`},
	{`{"call":"recall","store":"kb","value":"tea"}`, `{"results":[],"count":0}`},
}

// TestCollectionsInAllLanguages performs the same operations on collections in each language. The
// tools run first in workers and then in the process of the host. The replies, including their
// scores, must be the same in all languages.
func TestCollectionsInAllLanguages(t *testing.T) {
	sources := map[string][]byte{"go.wasm": goProbe(t)}
	for name, file := range map[string]string{"c.wasm": "../abi/guest/c/probe/probe.wasm", "as.wasm": "../abi/guest/assemblyscript/probe/probe.wasm"} {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[name] = code
	}
	for name, code := range stepTools {
		sources[name] = []byte(code)
	}
	replies := map[string]string{} // the replies of the first language, by step
	everywhere(t, func(t *testing.T) {
		for name, code := range sources {
			t.Run(name, func(t *testing.T) {
				change := []func(*host.Options){func(o *host.Options) {
					o.Now = func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
				}}
				if strings.HasSuffix(name, ".py") {
					change = append(change, withPython(t))
				}
				h := openApp(t, fstest.MapFS{
					"app.yaml": {Data: []byte(strings.ReplaceAll(languagesApp, "SOURCE", name))}, name: {Data: code},
				}, change...)
				performSteps(t, h, replies, collectionSteps)
				performSteps(t, h, replies, laterSteps)
			})
		}
	})
}

// performSteps runs a tool that executes the given steps. Then performSteps compares the replies
// with the expected replies.
func performSteps(t *testing.T, h *host.Host, replies map[string]string, steps []struct{ step, want string }) {
	t.Helper()
	texts := make([]string, len(steps))
	for i, s := range steps {
		texts[i] = s.step
	}
	result, err := run(h, host.Invocation{Caller: host.Caller{User: "ann"}, Input: json.RawMessage(`{"steps":[` + strings.Join(texts, ",") + `]}`)})
	var out struct {
		Replies []struct {
			Reply json.RawMessage
			Fault struct {
				Code      abi.Code
				Op, Store string
			}
		}
	}
	if err == nil {
		err = json.Unmarshal(result.Output, &out)
	}
	if err != nil || len(out.Replies) != len(steps) {
		t.Fatalf("Run = %s, %v; want %d replies", result.Output, err, len(steps))
	}
	for i, s := range steps {
		got := fmt.Sprintf("%s %s %s", out.Replies[i].Fault.Code, out.Replies[i].Fault.Op, out.Replies[i].Fault.Store)
		want := fmt.Sprintf("%s %s", s.want, stepOperation(s.step))
		if reply := out.Replies[i].Reply; len(reply) > 0 {
			got, want = withoutScores(t, reply), withoutScores(t, []byte(s.want))
			if first := replies[s.step+s.want]; first == "" {
				replies[s.step+s.want] = sorted(t, reply)
			} else if first != sorted(t, reply) {
				t.Errorf("%s = %s; want %s, as in another language", s.step, reply, first)
			}
		}
		if got != want {
			t.Errorf("%s = %s; want %s", s.step, got, want)
		}
	}
}

// stepOperation returns the operation and the store of a step.
func stepOperation(step string) string {
	var s struct{ Call, Store string }
	_ = json.Unmarshal([]byte(step), &s)
	return s.Call + " " + s.Store
}

// withoutScores removes the scores from a reply and sorts the members of each object.
func withoutScores(t *testing.T, reply []byte) string {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal(reply, &value); err != nil {
		return string(reply) // a code
	}
	results, _ := value["results"].([]any)
	for _, r := range results {
		delete(r.(map[string]any), "score")
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func sorted(t *testing.T, reply []byte) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(reply, &value); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// goProbe builds the probe of the Go binding with the same command that authors of tools use.
func goProbe(t *testing.T) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tool.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s", "-o", file, "../abi/guest/go/probe")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// If a tool runs in a worker, the host searches and computes vectors for the run. TestSearchTime
// checks that the processor time of the run includes this work.
func TestSearchTime(t *testing.T) {
	for name, source := range map[string]string{
		"recall":   `return (await memory.recall("kb", "tea", {mode: "text"})).count`,
		"remember": `for (let i = 0; i < 8; i++) await memory.remember("kb", i + " word".repeat(50000), {id: "new" + i})`,
	} {
		t.Run(name, func(t *testing.T) {
			h := openFilters(t, "tool.js", source)
			for i := range 60 {
				remember(t, h, host.Caller{}, "kb", host.NewEntry{ID: itoa(i + 10), Content: text(strings.Repeat("coffee and tea ", 10_000))})
			}
			result, err := run(h, host.Invocation{})
			if err != nil {
				t.Fatal(err)
			}
			plain, err := run(openTool(t, `return 1`), host.Invocation{})
			if err != nil {
				t.Fatal(err)
			}
			if search := result.Usage.CPUMS; search < plain.Usage.CPUMS+20 {
				t.Errorf("the run took %v ms of processor time; want 20 ms more than %v ms", search, plain.Usage.CPUMS)
			}
		})
	}
}
