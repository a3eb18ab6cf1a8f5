package sdkjs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// shop is the app for the tests in folder test.
var shop = map[string]string{
	"app.yaml": `
app: shop
memory:
  orders: {description: What a user ordered, access: user, expose: resource}
  secrets: {access: user}
  articles: {kind: collection, access: application, retention: 90d}
  diary: {kind: collection, access: user, expose: recall}
  profile: {access: user, strict: true, schema: {type: object, properties: {language: {type: string}, age: {type: integer}}}}
facts: {user.language: {type: string}}
blocks: true
sleep: {tool: order}
tools:
  order:
    source: order.js
    title: Order
    description: Order something
    inputSchema: {type: object, properties: {item: {type: string}}, required: [item]}
    outputSchema: {type: object, properties: {items: {type: array, items: {type: string}}}, required: [items]}
    grants: {orders: write, secrets: write}
  endless: {source: endless.js, description: Never end}
  pay: {source: order.js, description: Order after an approval, inputSchema: {type: object, properties: {item: {type: string}}}, grants: {orders: write}, approval: {before: [set_content]}}
  chatty: {source: chatty.js, description: Say that it begins and never end}
prompts:
  recap: {description: What was ordered, template: "Ordered: {{memory.orders.item}}", grants: {orders: read}}
`,
	"order.js":   `await memory.set_content("orders", {item}); console.log("ordered"); return {items: [item]};`,
	"endless.js": `for (;;) {}`,
	"waiter.abl": `
AGENT: Waiter
MEMORY:
  session:
    - item
  persistent:
    - user.item
  remember:
    - WHEN: item IS SET
      STORE: item -> user.item
  recall:
    - ON: session:start
      ACTION: inject_context
      PATHS: [user.item]
CONSTRAINTS:
  menu:
    - RESTRICT item == "fish" BEFORE calling order
      ON_FAIL: "The fish is gone."
FLOW:
  ask:
    REASONING: false
    GATHER:
      - item: required
        PROMPT: "What would you like?"
    THEN: order
  order:
    REASONING: false
    CALL: order(item)
    RESPOND: "One {{item}}."
    THEN: COMPLETE
`,
	"chatty.js": `console.log("begun"); for (;;) {}`,
}

// TestClient runs the JavaScript tests of this package's client and of the official MCP client. The
// tests use toolrun serve and toolrun mcp.
func TestClient(t *testing.T) {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	if os.Getenv("TOOLRUN_OFFLINE") != "" {
		t.Skip("TOOLRUN_OFFLINE is set, and npm fetches the client")
	}
	dir := t.TempDir()
	for name, text := range shop {
		write(t, filepath.Join(dir, name), []byte(text))
	}
	for _, pattern := range []string{"package.json", "package-lock.json", "*.js", "*.mjs", "*.ts", "*.mts", "test/*.mjs"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s = %q, %v", pattern, names, err)
		}
		for _, name := range names {
			if name == doubleTest {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, name), text)
		}
	}
	install(t, dir)
	toolrun := filepath.Join(dir, "toolrun")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", toolrun, "../../cmd/toolrun").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	operator, runtime, backup := makeKey(t, toolrun, dir, "operator"), makeKey(t, toolrun, dir, "runtime"), makeKey(t, toolrun, dir, "backup")
	test := exec.CommandContext(t.Context(), "node", "--test", "test/")
	test.Dir = dir
	test.Env = append(os.Environ(), "TOOLRUN="+toolrun, "APP="+filepath.Join(dir, "app.yaml"), "DB="+filepath.Join(dir, "memory.db"),
		"SERVICE="+serve(t, toolrun, dir), "OPERATOR="+operator, "RUNTIME="+runtime, "BACKUP="+backup)
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("node --test: %v\n%s", err, out)
	}
}

// makeKey creates a key with a role. The name of the key is the name of the role.
func makeKey(t *testing.T, toolrun, dir, role string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), toolrun, "key", "create", "--keys", "keys.json", "--role", role, "--json", role)
	cmd.Dir = dir
	out, err := cmd.Output()
	var key struct{ Secret string }
	if err == nil {
		err = json.Unmarshal(out, &key)
	}
	if err != nil {
		t.Fatalf("create a key: %v\n%s", err, out)
	}
	return key.Secret
}

// serve starts a service that accepts the keys, and returns the URL of the service.
func serve(t *testing.T, toolrun, dir string) string {
	t.Helper()
	cmd := exec.Command(toolrun, "serve", "--json", "--listen", "127.0.0.1:0", "--keys", "keys.json", "--db", "service.db", "--inprocess")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("standard error of the service:\n%s", &stderr)
		}
	})
	var started struct{ URL string }
	if err := json.NewDecoder(out).Decode(&started); err != nil {
		t.Fatalf("the service did not start: %v", err)
	}
	return started.URL
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// unreachable lists npm's error codes for an unreachable registry.
var unreachable = []string{"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH"}

func install(t *testing.T, dir string) {
	t.Helper()
	npm := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline",
		"--fetch-retries=1", "--fetch-retry-mintimeout=1000") // the default time limit of npm is over a minute
	npm.Dir = dir
	out, err := npm.CombinedOutput()
	if err == nil {
		return
	}
	for _, code := range unreachable {
		if bytes.Contains(out, []byte(code)) {
			t.Skip("npm cannot reach its registry: " + code)
		}
	}
	t.Fatalf("npm ci: %v\n%s", err, out)
}
