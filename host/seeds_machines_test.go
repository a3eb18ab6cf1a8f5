package host_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/model"
)

// machineBlock returns a code block from the vendor's documentation page about machines. The
// argument "header" is the first line of the block. In our copy of the page, code blocks have no
// fences and no indentation.
func machineBlock(t *testing.T, header string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "shared", "seeds", "003_machines_remember_recall.txt"))
	if err != nil {
		t.Skip("the documentation page with the samples is not next to the project")
	}
	for paragraph := range strings.SplitSeq(string(page), "\n\n") {
		if block := strings.TrimLeft(paragraph, "\n") + "\n"; strings.HasPrefix(block, header+"\n") {
			return block
		}
	}
	t.Fatalf("the page has no code block %s", header)
	return ""
}

const claude = "anthropic:claude-sonnet-4-6"

// askMocks returns mocks for the model that the samples use. The answers of the model are the given
// objects.
func askMocks(objects ...string) model.Mocks {
	var answers []model.MockAnswer
	for _, o := range objects {
		answers = append(answers, model.MockAnswer{Object: json.RawMessage(o)})
	}
	return model.Mocks{claude: answers}
}

// stepInMachine returns a machine that contains a single step.
func stepInMachine(inputs, step string) []byte {
	return []byte("machine m\naccepts\n" + inputs + "ensures\npermissions\nallowed to\nmemory\nimplements\n" + step)
}

// TestSeedMachines runs the machines and the steps on the page. TestSeedMachines also runs the
// exercise in the last section, in which one machine ingests documents, and other machines answer
// questions about the documents.
func TestSeedMachines(t *testing.T) { everywhere(t, testSeedMachines) }

func testSeedMachines(t *testing.T) {
	files := fstest.MapFS{
		"app.yaml": {Data: []byte(`
app: seeds
memory:
  knowledge_base: {kind: collection, access: application, erase: never}
  customer_feedback: {kind: collection, access: application, erase: never}
collections: auto
tools:
  ingest: {source: ingest.machine, description: block 2}
  find: {source: find.machine, description: block 4}
  answer: {source: answer.machine, description: block 5}
  talk: {source: talk.machine, description: block 6}
  feedback: {source: feedback.machine, description: stores feedback}
  complaints: {source: complaints.machine, description: block 7}
  billing: {source: billing.machine, description: answers questions about one category}
`)},
		"ingest.machine":     {Data: stepInMachine("document as text, is required\nurl as text\ncategory as text\n", machineBlock(t, "remember store_document"))},
		"find.machine":       {Data: stepInMachine("question as text, is required\n", machineBlock(t, "recall find_relevant"))},
		"answer.machine":     {Data: []byte(machineBlock(t, "machine question_answerer"))},
		"talk.machine":       {Data: []byte(machineBlock(t, "machine conversation_agent"))},
		"feedback.machine":   {Data: stepInMachine("text as text\nmetadata as object\n", "remember x\ncontent: input.text\ncollection: \"customer_feedback\"\nmetadata: input.metadata\n")},
		"complaints.machine": {Data: stepInMachine("a as text\n", machineBlock(t, "recall find_complaints"))},
		"billing.machine": {Data: []byte(strings.Replace(machineBlock(t, "machine question_answerer"), "limit: 5\nthreshold: 0.7\n",
			"filter: {category: \"billing\"}\nthreshold: 0.01\n", 1))},
	}
	h := openApp(t, files)
	call := func(user, tool, input string, mocks model.Mocks) string {
		t.Helper()
		result, err := h.Run(t.Context(), host.Invocation{Tool: tool, Caller: host.Caller{User: user}, Input: json.RawMessage(input), Mocks: mocks})
		if err != nil {
			t.Fatalf("%s = %v", tool, err)
		}
		return string(result.Output)
	}
	// This test covers blocks 2, 4 and 5. The question of block 5 uses words of the document.
	const question = "How long does a refund of a broken cup take?"
	call("ann", "ingest", `{"document":"`+question+`","url":"https://x.example/cup","category":"billing"}`, nil)
	call("ann", "ingest", `{"document":"A parcel to Norway takes a week.","url":"https://x.example/norway","category":"shipping"}`, nil)
	found := call("bob", "find", `{"question":"`+question+`"}`, nil)
	if !strings.Contains(found, `"source":"https://x.example/cup"`) || !strings.Contains(found, `"count":1`) || !strings.Contains(found, `"ingested_at":"`) {
		t.Errorf("block 4 finds %s; want the document with its metadata", found)
	}
	want := `{"answer":"14 days","sources":["https://x.example/cup"]}`
	if got := call("bob", "answer", `{"question":"`+question+`"}`, askMocks(`{"answer":"14 days"}`)); got != want {
		t.Errorf("block 5 = %s; want %s", got, want)
	}
	if got := call("bob", "billing", `{"question":"parcel cup week"}`, askMocks(`{"answer":"14 days"}`)); got != want {
		t.Errorf("with a filter, the answer is %s; want only sources of the category: %s", got, want)
	}
	// This test covers block 6: a namespace contains the history of one session and one user.
	call("ann", "talk", `{"message":"My cup is broken","session_id":"s1"}`, askMocks(`{"reply":"Sorry"}`))
	for user, sessions := range map[string]map[string]int{"ann": {"s1": 1, "s2": 0}, "bob": {"s1": 0}} {
		for session, count := range sessions {
			result, err := h.Run(t.Context(), host.Invocation{Tool: "talk", Caller: host.Caller{User: user}, DryRun: true,
				Input: json.RawMessage(`{"message":"the broken cup","session_id":"` + session + `"}`), Mocks: askMocks(`{"reply":"Yes"}`)})
			if err != nil {
				t.Fatal(err)
			}
			reads := 0
			for _, r := range result.Effects.Reads {
				if r.Store == "conversations" && r.Item != "" && r.Revision > 0 {
					reads++
				}
			}
			if reads != count {
				t.Errorf("a turn of %s in %s reads %+v; want %d entries", user, session, result.Effects.Reads, count)
			}
		}
	}
	// This test covers block 7. A search finds an entry only if the entry matches all pairs of the
	// filter.
	for _, metadata := range []string{`{"category":"complaint","urgency":"high"}`, `{"category":"complaint","urgency":"low"}`, `{"category":"praise","urgency":"high"}`} {
		call("ann", "feedback", `{"text":"product quality issues","metadata":`+metadata+`}`, nil)
	}
	if got := call("ann", "complaints", `{}`, nil); !strings.Contains(got, `"count":1`) || !strings.Contains(got, `{"category":"complaint","urgency":"high"}`) {
		t.Errorf("block 7 finds %s; want one entry", got)
	}
}
