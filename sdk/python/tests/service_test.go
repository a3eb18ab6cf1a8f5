package tests

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/double/doubletest"
)

func TestMain(m *testing.M) {
	doubletest.Main()
	os.Exit(m.Run())
}

// shop is the app of the tests.
var shop = map[string]string{
	"app.yaml": `
app: shop
blocks: true
sleep: {tool: endless}
memory:
  orders: {description: What a user ordered, access: user, expose: resource}
  purged: {access: user}
  profile: {access: user, strict: true, schema: {type: object, properties: {language: {type: string}, age: {type: integer}}}}
  articles: {kind: collection, access: user, retention: 90d}
  topics: {kind: collection, access: session}
facts: {user.language: {type: string}}
tools:
  order:
    source: order.js
    title: Order
    description: Order something
    inputSchema: {type: object, properties: {item: {type: string}}, required: [item]}
    outputSchema: {type: object, properties: {items: {type: array, items: {type: string}}}, required: [items]}
    grants: {orders: write}
  endless: {source: endless.js, description: Never end}
  pay: {source: order.js, description: Order after an approval, inputSchema: {type: object, properties: {item: {type: string}}}, grants: {orders: write}, approval: {before: [set_content]}}
  chatty: {source: chatty.js, description: Say that it begins and never end}
prompts:
  recap: {description: What was ordered, template: "Ordered: {{memory.orders.item}}", grants: {orders: read}}
`,
	"order.js":   `await memory.set_content("orders", {item}); console.log("ordered"); return {items: [item]};`,
	"endless.js": `for (;;) {}`,
	"chatty.js":  `console.log("begun"); for (;;) {}`,
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
}

// service is a running toolrun serve with the app shop.
type service struct {
	url  string
	keys map[string]string // by role
}

// environ returns the environment variables that describe the service to the tests.
func (s service) environ() []string {
	env := []string{"SERVICE=" + s.url}
	for role, key := range s.keys {
		env = append(env, strings.ToUpper(role)+"="+key)
	}
	return env
}

// serve starts a service. When the test ends, the service is stopped.
func serve(t *testing.T) service {
	t.Helper()
	dir := t.TempDir()
	for name, text := range shop {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	toolrun := doubletest.Toolrun(t)
	s := service{keys: map[string]string{}}
	for _, role := range []string{"operator", "runtime", "backup"} {
		s.keys[role] = makeKey(t, toolrun, dir, role)
	}
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
	s.url = started.URL
	return s
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
