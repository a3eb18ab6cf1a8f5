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
)

const secretAgent = `AGENT: Till
GOAL: "Take cards"
MEMORY:
  session:
    - card
      SENSITIVE: true
  recall:
    - ON: session:start
      ACTION: prompt_llm
      INSTRUCTION: "Be brief"
FLOW:
  pay:
    REASONING: false
    ON_INPUT:
      - IF: input == "pay"
        CALL: charge(card: card)
      - ELSE:
        SET: card = input
        CALL: charge(card: card)
        ON_FAIL:
          SET: failed = true
`

// If a tool repeats its input in a log line or an error, sensitive values in the input are not
// revealed.
func TestToolsRevealNoSecrets(t *testing.T) {
	files := fstest.MapFS{
		"app.yaml":  {Data: []byte("app: till\ntools:\n  charge: {source: charge.js, description: d}\n")},
		"till.abl":  {Data: []byte(secretAgent)},
		"charge.js": {Data: []byte(`console.log("charge", input.card); throw new Error("no " + input.card)`)},
	}
	h := openDeskFiles(t, files)
	for _, message := range []string{"4111111111111234", "pay"} {
		var live []string
		result, _ := h.Agents().Turn(context.Background(), host.Turn{
			Caller: annInS1, Message: &message, OnLog: func(_ int, line abi.LogLine) { live = append(live, line.Text) },
		})
		text, err := json.Marshal(result)
		if err != nil || strings.Contains(string(text), "4111111111111234") || len(result.Logs) != 1 || result.Logs[0].Text != "charge [REDACTED]" {
			t.Errorf("the turn = %s, %v", text, err)
		}
		if len(live) != 1 || live[0] != "charge [REDACTED]" {
			t.Errorf("OnLog received %q", live)
		}
	}
}

// If the name of an event is invalid, the caller gets a fault.
func TestTurnWithUnknownEvent(t *testing.T) {
	h := openDesk(t)
	result, err := h.Agents().Turn(t.Context(), host.Turn{Caller: annInS1, Event: "tool::after"})
	if !errors.Is(err, abi.InvalidArgument) || result.Error.Hint == "" {
		t.Errorf("Turn = %v; want invalid_argument with a hint", err)
	}
}
