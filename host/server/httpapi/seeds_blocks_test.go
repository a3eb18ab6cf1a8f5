package httpapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/server/tenants"
)

// memoryPage returns the vendor's documentation page about memory blocks. The copy of the page does
// not mark where a sample begins and ends.
func memoryPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "seeds", "002_agentflow_memory_blocks.txt"))
	if err != nil {
		t.Skip("the documentation page with the samples is not next to the project")
	}
	return string(page)
}

// sample is a request on the page.
type sample struct{ method, path, body string }

var requestLine = regexp.MustCompile(`(?m)^(GET|PUT|POST|DELETE) (/\S+)\n`)

// samples returns the requests on the page, in order.
func samples(t *testing.T, page string) (list []sample) {
	t.Helper()
	for _, at := range requestLine.FindAllStringSubmatchIndex(page, -1) {
		s := sample{method: page[at[2]:at[3]], path: page[at[4]:at[5]]}
		if rest := page[at[1]:]; strings.HasPrefix(rest, "{") {
			s.body = firstObject(t, rest)
		}
		list = append(list, s)
	}
	return list
}

// firstObject returns the JSON object at the beginning of a text.
func firstObject(t *testing.T, text string) string {
	t.Helper()
	var object json.RawMessage
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&object); err != nil {
		t.Fatal(err)
	}
	return string(object)
}

// entriesAfter returns the entries on the page that follow a line.
func entriesAfter(t *testing.T, page, line string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, line+"\n")
	if !ok {
		t.Fatalf("the page has no line %q", line)
	}
	var entries []string
	for text := range strings.Lines(rest) {
		if !strings.HasPrefix(text, "- ") {
			break
		}
		entries = append(entries, strings.TrimSpace(text))
	}
	return strings.Join(entries, "\n")
}

// frozenService starts a service whose clock shows the time in the samples.
func frozenService(t *testing.T) *service {
	t.Helper()
	at := time.Date(2026, 4, 30, 16, 20, 0, 0, time.UTC)
	return newServiceOf(t, func(o *tenants.Options) { o.Host.Now = func() time.Time { return at } })
}

// TestSeedBlocks sends the documented requests for blocks unchanged, with the token of a user.
func TestSeedBlocks(t *testing.T) {
	s, page := frozenService(t), memoryPage(t)
	requests := samples(t, page)
	if len(requests) != 6 {
		t.Fatalf("the page has the requests %q; want four reads, a write and a search", requests)
	}
	good := entriesAfter(t, page, "Core memory should stay small, durable, and broadly useful. Archival memory can hold more specifics, but each line should still be something the agent may need later. Good core entries:")
	s.putBlock(200, "ann", corePath, good, "")
	s.putBlock(200, "ann", corePath+"?agent_id=agent_emails", "- Signs mails as A.", "")
	s.putBlock(200, "bob", corePath, "- Not for ann", "")
	wants := map[string][]string{
		"/api/v1/memory/blocks":                                        {`"blocks":[{`, "Prefers concise answers with explicit next actions.", `"updated_at":"2026-04-30T16:20:00.000Z"`},
		"/api/v1/memory/blocks?scope=all":                              {"Prefers concise answers", "Signs mails as A."},
		"/api/v1/memory/blocks/core":                                   {`"block_type":"core"`, `"scope":"user"`, "enterprise renewals in North America"},
		"/api/v1/memory/blocks/core?scope=agent&agent_id=agent_emails": {`"scope":"agent"`, `"agent_id":"agent_emails"`, "Signs mails as A."},
	}
	for _, r := range requests[:4] {
		got := s.want(200, "ann", r.method, r.path, r.body)
		for _, text := range wants[r.path] {
			if r.method != "GET" || !contains(got, text) {
				t.Errorf("%s %s = %s; want %s", r.method, r.path, got, text)
			}
		}
		if contains(got, "Not for ann") || len(wants[r.path]) == 0 {
			t.Errorf("%s %s = %s", r.method, r.path, got)
		}
	}
	put := requests[4]
	if r := s.want(200, "ann", put.method, put.path, put.body); !contains(r, `"content":"- Prefers concise account summaries"`) || !contains(r, `"updated_at":"2026-04-30T16:20:00.001Z"`) {
		t.Errorf("%s %s = %s; want the new text and a greater time", put.method, put.path, r)
	}
	if p := s.problem(409, "ann", put.method, put.path, put.body); p.Code != "conflict" || p.Title != "Conflict" {
		t.Errorf("the second write = %+v; want 409 Conflict", p)
	}
	create := strings.Replace(put.body, `"2026-04-30T16:20:00"`, "null", 1)
	s.want(409, "ann", put.method, put.path, create)
	s.want(200, "ann", put.method, "/api/v1/memory/blocks/archival", create)
}
