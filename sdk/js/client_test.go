package sdkjs_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// shop is an app for test/mcp.test.mjs.
var shop = map[string]string{
	"app.yaml": `
app: shop
memory:
  orders: {description: What a user ordered, access: user, expose: resource}
  secrets: {access: user}
tools:
  order:
    source: order.js
    title: Order
    description: Order something
    inputSchema: {type: object, properties: {item: {type: string}}, required: [item]}
    outputSchema: {type: object, properties: {items: {type: array, items: {type: string}}}, required: [items]}
    grants: {orders: write, secrets: write}
  endless: {source: endless.js, description: Never end}
prompts:
  recap: {description: What was ordered, template: "Ordered: {{memory.orders.item}}", grants: {orders: read}}
`,
	"order.js":   `await memory.set_content("orders", {item}); console.log("ordered"); return {items: [item]};`,
	"endless.js": `for (;;) {}`,
}

// TestClient has the official client of MCP talk to toolrun mcp; what it expects stands in test/mcp.test.mjs.
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
	for _, name := range []string{"package.json", "package-lock.json", "test/mcp.test.mjs"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), text)
	}
	install(t, dir)
	toolrun := filepath.Join(dir, "toolrun")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", toolrun, "../../cmd/toolrun").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	test := exec.CommandContext(t.Context(), "node", "--test", "test/")
	test.Dir = dir
	test.Env = append(os.Environ(), "TOOLRUN="+toolrun, "APP="+filepath.Join(dir, "app.yaml"), "DB="+filepath.Join(dir, "memory.db"))
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("node --test: %v\n%s", err, out)
	}
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

// unreachable are npm's codes for a registry that cannot be reached.
var unreachable = []string{"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH"}

func install(t *testing.T, dir string) {
	t.Helper()
	npm := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline",
		"--fetch-retries=1", "--fetch-retry-mintimeout=1000") // npm's own patience is over a minute
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
