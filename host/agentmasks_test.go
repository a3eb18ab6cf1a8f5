package host_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host"
)

// TestDryTurnMasks checks the changes that a dry turn returns. Values that the agent declares as
// sensitive must be masked.
func TestDryTurnMasks(t *testing.T) {
	h := openApp(t, fstest.MapFS{
		"app.yaml": {Data: []byte("app: masks\n")},
		"vault.abl": {Data: []byte(`AGENT: Vault
MEMORY:
  session:
    - pin
      SENSITIVE: true
    - kept
      RESET: never
      SENSITIVE: true
  persistent:
    - user.card
      SENSITIVE: true
      SENSITIVE_DISPLAY: mask
  recall:
    - ON: agent:Vault:after
      ACTION: inject_context
      PATHS: [user.card]
FLOW:
  keep:
    REASONING: false
    SET:
      - pin = input
      - kept = input
      - user.card = input
      - plain = 5
    THEN: COMPLETE
`)},
	})
	message := "4111-1111-1234"
	result, err := h.Agents().Turn(t.Context(), host.Turn{Caller: host.Caller{User: "ann", Session: "s1"}, Message: &message, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), message) {
		t.Errorf("the result contains the value: %s", text)
	}
	items := map[string]string{}
	for _, c := range result.Changes {
		items[c.Store+"/"+c.Item] = string(c.After)
	}
	for item, want := range map[string]string{
		"facts/user.card": `"**********1234"`, "agents/kept.Vault": `{"kept":"[REDACTED]"}`, "agents/Vault": `"plain":5`, "agents/session.state": `"user.card"`,
	} {
		if !strings.Contains(items[item], want) {
			t.Errorf("the change of %s is %s; want %s", item, items[item], want)
		}
	}
}
