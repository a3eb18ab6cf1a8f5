package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/model/openai"
)

const modelApp = `
app: test
memory:
  notes: {access: user, description: what was noted}
tools:
  tool:
    source: tool.js
    description: the tool under test
    grants: {notes: readwrite}
    models: [local]
    limits: {LIMITS}
  other:
    source: tool.js
    description: a tool without models
`

// modelSet returns a set with two models. The server provides the model "local". The model "closed"
// belongs to another tenant, so the tests' tenant cannot use it.
func modelSet(t *testing.T, server *modeltest.Server, extra string) *model.Set {
	t.Helper()
	text := "chat:\n  local: {base_url: \"" + server.URL() + "\", model: tiny" + extra + "}\n" +
		"  closed: {base_url: \"" + server.URL() + "\", model: tiny, tenants: [other]}\n"
	config, err := model.ReadConfig("models.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	set, err := model.NewSet(config, map[string]model.Factory{"openai": openai.Factory()}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// openModelTool opens a host with a JavaScript tool. The model "local" is granted to the tool.
func openModelTool(t *testing.T, source string, change ...func(*host.Options)) (*host.Host, *modeltest.Server) {
	t.Helper()
	server := modeltest.Start()
	t.Cleanup(server.Close)
	files := fstest.MapFS{
		"app.yaml": {Data: []byte(strings.ReplaceAll(modelApp, "LIMITS", ""))},
		"tool.js":  {Data: []byte(source)},
	}
	with := func(o *host.Options) { o.Models = modelSet(t, server, "") }
	return openApp(t, files, append([]func(*host.Options){with}, change...)...), server
}

const ask = `const ask = (text, name = "local") => model.chat(name, {messages: [{role: "user", content: text}]});
`

func TestToolAsksModel(t *testing.T) { everywhere(t, testToolAsksModel) }

func testToolAsksModel(t *testing.T) {
	h, server := openModelTool(t, ask+`return (await ask("hello")).text`)
	result, err := run(h, host.Invocation{})
	if err != nil || string(result.Output) != `"re: hello"` {
		t.Fatalf("Run = %s, %v; want the model's answer", result.Output, err)
	}
	if got := result.Usage.Model; got.Calls != 1 || got.InputTokens != 1 || got.OutputTokens != 2 {
		t.Errorf("usage = %+v; want 1 call with 1 and 2 tokens", got)
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("the provider received %d requests; want 1", n)
	}
}

func TestModelFaults(t *testing.T) { everywhere(t, testModelFaults) }

func testModelFaults(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		tool   string
		want   abi.Code
	}{
		"no grant at all":  {ask + `await ask("x")`, "other", abi.AccessDenied},
		"another model":    {ask + `await ask("x", "closed")`, "tool", abi.AccessDenied},
		"no conversation":  {`await model.chat("local", {prompt: "x"})`, "tool", abi.InvalidArgument},
		"no name":          {`await model.chat(7, {messages: []})`, "tool", abi.InvalidArgument},
		"missing argument": {`await model.chat()`, "tool", abi.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			h, server := openModelTool(t, c.source)
			_, err := run(h, host.Invocation{Tool: c.tool})
			f, ok := errors.AsType[*abi.Fault](err)
			if !ok || f.Code != c.want || f.Op != abi.ModelChat {
				t.Errorf("Run = %v; want %s of %s", err, c.want, abi.ModelChat)
			}
			if n := len(server.Requests()); n != 0 {
				t.Errorf("the provider received %d requests; want none", n)
			}
		})
	}
}

// TestModelFaultIsCaught checks that a tool can handle the fault of a call to a model, like the
// fault of a memory operation.
func TestModelFaultIsCaught(t *testing.T) { everywhere(t, testModelFaultIsCaught) }

func testModelFaultIsCaught(t *testing.T) {
	h, server := openModelTool(t, ask+`try { await ask("x") } catch (e) { return [e instanceof MemoryAccessError, e.code] }`)
	server.Script(modeltest.Reply{Status: 400})
	result, err := run(h, host.Invocation{})
	var got []any
	if err != nil || json.Unmarshal(result.Output, &got) != nil || len(got) != 2 || got[0] != true {
		t.Errorf("Run = %s, %v; want a caught error", result.Output, err)
	}
}

func TestModelsOfOtherTenants(t *testing.T) {
	server := modeltest.Start()
	defer server.Close()
	files := fstest.MapFS{
		"app.yaml": {Data: []byte(strings.NewReplacer("LIMITS", "", "[local]", "[closed, unknown]").Replace(modelApp))},
		"tool.js":  {Data: []byte(ask + `const codes = []; for (const name of ["closed", "unknown"]) { try { await ask("x", name) } catch (e) { codes.push(e.code + " " + e.message.replace(name, "NAME")) } } return codes`)},
	}
	h := openApp(t, files, func(o *host.Options) { o.Models = modelSet(t, server, "") })
	result, err := run(h, host.Invocation{})
	var got []string
	if err != nil || json.Unmarshal(result.Output, &got) != nil || len(got) != 2 || got[0] != got[1] || !strings.HasPrefix(got[0], "unavailable ") {
		t.Errorf("Run = %s, %v; want the same fault unavailable twice", result.Output, err)
	}
}

// If a tool awaits several calls together, the host must make these calls concurrently. Each
// promise must get its own answer.
func TestConcurrentModelCalls(t *testing.T) { everywhere(t, testConcurrentModelCalls) }

func testConcurrentModelCalls(t *testing.T) {
	h, server := openModelTool(t, ask+`
		const answers = await Promise.all(Array.from({length: 10}, (_, i) => ask("q" + i)));
		return answers.map(a => a.text).join()`)
	release := server.Hold()
	defer release()
	together := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		together <- server.Await(ctx, 10)
		release()
	}()
	result, err := run(h, host.Invocation{})
	if want := `"re: q0,re: q1,re: q2,re: q3,re: q4,re: q5,re: q6,re: q7,re: q8,re: q9"`; err != nil || string(result.Output) != want {
		t.Errorf("Run = %s, %v; want %s", result.Output, err, want)
	}
	cancel()
	if err := <-together; err != nil {
		t.Error(err)
	}
}
