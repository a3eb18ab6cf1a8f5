package host_test

import (
	"slices"
	"testing"
	"testing/fstest"
)

const searchingAgent = `AGENT: Helper
GOAL: "answer"
MEMORY:
  recall:
    - ON: search:before
      ACTION: prompt_llm
      INSTRUCTION: "Cite the sources"
FLOW:
  ask:
    REASONING: false
    ON_INPUT:
      - IF: input == "nothing"
        CALL: store(text: input)
      - ELSE:
        CALL: find(text: input)
        RESPOND: "Found {{call_result.count}}"
`

// The event search:before must be fired before each search that an agent's tool makes. No other
// search fires the event.
func TestSearchBefore(t *testing.T) {
	h := openDeskFiles(t, fstest.MapFS{
		"app.yaml": {Data: []byte(`app: desk
memory: {kb: {kind: collection, access: application}}
tools:
  store: {source: store.js, description: d, grants: {kb: readwrite}}
  find: {source: find.js, description: d, grants: {kb: read}}
`)},
		"helper.abl": {Data: []byte(searchingAgent)},
		"store.js":   {Data: []byte(`return memory.remember("kb", "green tea", {id: "1"})`)},
		"find.js":    {Data: []byte(`await memory.recall("kb", input.text); return memory.recall("kb", input.text)`)},
	})
	if result := say(t, h, annInS1, "nothing"); len(result.Instructions) != 0 {
		t.Errorf("a turn without a search has the instructions %q", result.Instructions)
	}
	result := say(t, h, annInS1, "tea")
	if want := []string{"Cite the sources", "Cite the sources"}; !slices.Equal(result.Instructions, want) || !slices.Equal(result.Messages, []string{"Found 1"}) {
		t.Errorf("a turn with two searches has the instructions %q and the messages %q; want %q", result.Instructions, result.Messages, want)
	}
}
