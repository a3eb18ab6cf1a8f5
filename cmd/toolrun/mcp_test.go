package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/host/engine/python/distribution/disttest"
)

const examples = "../../plugins/examples"

// exampleInputs contains an input for each example tool. A tool that routes a ticket also needs a
// context. An MCP client cannot send a context, so the calls of these tools fail.
var exampleInputs = map[string]string{
	"remember_me": `{"language":"fr"}`, "remember_me_py": `{"language":"fr"}`,
	"order_history": `{"item":"tea","price":0.1}`, "order_history_go": `{"item":"tea","price":0.1}`,
	"feature_flags": `{}`, "feature_flags_c": `{}`,
	"hit_counter": `{"page":"/tea"}`, "hit_counter_go": `{"page":"/tea"}`,
	"shopping_cart": `{"action":"add","sku":"TEA-1","price":4.9}`,
	"greeting":      `{}`, "greeting_as": `{}`,
	"route_ticket": `{}`, "route_ticket_as": `{}`, "route_ticket_py": `{}`,
	"conversation_summary": `{"note":"likes tea"}`, "conversation_summary_py": `{"note":"likes tea"}`,
	"rate_limit": `{}`, "read_files": `{}`,
	"sales_report":       `{"sales":"region,item,amount\nnorth,tea,0.10\n"}`,
	"order_confirmation": `{"name":"Ann","item":"tea","count":3,"price":1.5}`,
}

// TestMCPOverStdio runs the command "toolrun mcp" and connects to it with the client from the Go
// SDK.
func TestMCPOverStdio(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "toolrun", "mcp", "--app", examples, "--db", filepath.Join(t.TempDir(), "memory.db"), "--user", "ann")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("connect: %v\n%s", err, &stderr)
	}
	for _, tool := range []string{"remember_me", "hit_counter", "hit_counter_go", "conversation_summary", "feature_flags_c"} {
		input := exampleInputs[tool]
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(input)})
		if err != nil || result.IsError || result.StructuredContent == nil {
			t.Errorf("%s(%s) = %+v, %v; want structured content", tool, input, result, err)
		}
	}
	if err := session.Close(); err != nil {
		t.Errorf("the server ended with %v; want a clean exit after its client", err)
	}
	if stderr.Len() > 0 {
		t.Errorf("the server wrote to stderr: %s", &stderr)
	}
}

// TestInspector uses the command line of the MCP Inspector to list and call the example tools.
func TestInspector(t *testing.T) {
	needInspector(t)
	dir, tools := inspected(t)
	inspectExamples(t, overStdio(t, dir), tools...)
}

// inspected returns the names of the tools that the Inspector calls. Each call starts a process and
// takes seconds, so all tools are called only in the soak test. Other tests call one tool.
func inspected(t *testing.T) (dir string, tools []string) {
	if os.Getenv("TOOLRUN_SOAK") == "" {
		return examples, []string{"hit_counter"}
	}
	t.Setenv(disttest.Variable, disttest.File(t))
	return installedExamples(t), slices.Sorted(maps.Keys(exampleInputs))
}

// overStdio is the command that the Inspector starts to serve an app.
func overStdio(t *testing.T, dir string) []string {
	t.Helper()
	toolrun, err := exec.LookPath("toolrun")
	if err != nil {
		t.Fatal(err)
	}
	return []string{toolrun, "mcp", "--app", dir, "--db", filepath.Join(t.TempDir(), "memory.db"), "--user", "ann"}
}

func needInspector(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("npx"); err != nil {
		t.Skip("npm is not installed")
	}
	if os.Getenv("TOOLRUN_OFFLINE") != "" {
		t.Skip("TOOLRUN_OFFLINE is set, and npm downloads the Inspector")
	}
}

// inspectExamples sends the Inspector's requests to a server of the example tools. Each request has
// its own session.
func inspectExamples(t *testing.T, server []string, called ...string) {
	t.Helper()
	var list struct{ Tools []struct{ Name string } }
	inspect(t, &list, server, "--method", "tools/list")
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if want := slices.Sorted(maps.Keys(exampleInputs)); !slices.Equal(names, want) {
		t.Errorf("the Inspector lists %q; want %q", names, want)
	}
	for _, tool := range called {
		var result struct {
			IsError           bool
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
		}
		inspect(t, &result, server, "--method", "tools/call", "--tool-name", tool, "--tool-args-json", exampleInputs[tool])
		fails := strings.HasPrefix(tool, "route_ticket")
		if result.IsError != fails || len(result.Content) != 1 || fails == (result.StructuredContent != nil) {
			t.Errorf("%s(%s) = %+v; want an error: %t", tool, exampleInputs[tool], result, fails)
		}
	}
}

// inspect runs the Inspector on a server and decodes the Inspector's output. The argument "server"
// is a command or a URL, with options.
func inspect(t *testing.T, answer any, server []string, method ...string) {
	t.Helper()
	args := append([]string{"--yes", "@modelcontextprotocol/inspector@2.12.0", "--cli"}, server...)
	cmd := exec.CommandContext(t.Context(), "npx", append(args, method...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	const toolFailed = 5 // the exit code of the Inspector if the result is an error
	err := cmd.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.ExitCode() == toolFailed {
		err = nil
	}
	for _, code := range []string{"ENOTFOUND", "EAI_AGAIN", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH"} {
		if err != nil && strings.Contains(stderr.String(), "npm error code "+code) {
			t.Skip("npm cannot reach its registry: " + code)
		}
	}
	if err == nil {
		err = json.Unmarshal(stdout.Bytes(), answer)
	}
	if err != nil {
		t.Fatalf("the Inspector, %q: %v\n%s\n%s", method, err, &stdout, &stderr)
	}
}

// installedExamples copies the example tools and installs their packages.
func installedExamples(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(examples)); err != nil {
		t.Fatal(err)
	}
	npm := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	npm.Dir = filepath.Join(dir, "order_history")
	if out, err := npm.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install the packages of order_history: %v\n%s", err, out)
	}
	return dir
}
