package host_test

import (
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// TestRightsOfRules checks that a trigger can append to a fact that its agent cannot read.
// TestRightsOfRules also checks that a recall can read a path that only another agent declares.
func TestRightsOfRules(t *testing.T) {
	h := openApp(t, fstest.MapFS{
		"app.yaml": {Data: []byte("app: rules\n")},
		"writer.abl": {Data: []byte(`AGENT: Writer
MEMORY:
  persistent:
    - user.name
    - user.log
      ACCESS: write
  remember:
    - WHEN: last IS SET
      STORE:
        value: last
        target: user.log
        operation: append
FLOW:
  write:
    REASONING: false
    SET:
      - last = input
      - user.name = input
    THEN: COMPLETE
`)},
		"reader.abl": {Data: []byte(`AGENT: Reader
MEMORY:
  recall:
    - ON: session:start
      ACTION: inject_context
      PATHS: [user.name]
FLOW:
  read:
    REASONING: false
    RESPOND: "Hello {{user.name}}."
    THEN: COMPLETE
`)},
	})
	ann := host.Caller{User: "ann", Session: "s1"}
	for _, message := range []string{"Ann", "Anna"} {
		if _, err := h.Agents().Turn(t.Context(), host.Turn{Agent: "Writer", Caller: ann, Message: &message}); err != nil {
			t.Fatal(err)
		}
	}
	if got := content(t, h, ann, abi.GetFact, "user.log"); got != `["Ann","Anna"]` {
		t.Errorf("user.log = %s", got)
	}
	o, err := h.Agents().Turn(t.Context(), host.Turn{Agent: "Reader", Caller: ann})
	if err != nil || len(o.Messages) != 1 || o.Messages[0] != "Hello Anna." {
		t.Errorf("Turn = %+v, %v", o, err)
	}
}
