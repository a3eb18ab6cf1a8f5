package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/report"
)

const seedPage = "004_agentic_apps_memory_stores.txt"

const seedStores = `
app: samples
memory:
  userPrefs: {access: user, retention: 1_month, strict: true, schema: userPrefs.schema.json}
  tempProcessingData: {access: session, retention: session}
`

// seedGrants lists the grants that the code samples on the vendor's documentation page need.
var seedGrants = []declare.Grant{
	{Store: "userPrefs", Verbs: []abi.Verb{abi.Read, abi.Write, abi.Delete}},
	{Store: "tempProcessingData", Verbs: []abi.Verb{abi.Read, abi.Write, abi.Delete}},
	{Store: declare.SessionMeta, Verbs: []abi.Verb{abi.Read}},
}

// samples contains the code blocks of the vendor's documentation page. samples also contains an
// app, which uses the schema on this page.
type samples struct {
	*host.Host
	t      *testing.T
	blocks []string
	who    host.Caller
}

func newSamples(t *testing.T, change ...func(*host.Options)) *samples {
	t.Helper()
	s := &samples{t: t, who: host.Caller{User: "ann", Session: "sess_123"}}
	for _, b := range seedBlocks(t, seedPage) {
		s.blocks = append(s.blocks, b.text)
	}
	s.Host = openApp(t, fstest.MapFS{
		"app.yaml": {Data: []byte(seedStores)}, "userPrefs.schema.json": {Data: []byte(s.blocks[1])},
	}, change...)
	return s
}

// run runs code and returns its output. The code begins with one of the page's blocks.
func (s *samples) run(language, code string, inv host.Invocation) (*report.Result, error) {
	s.t.Helper()
	inv.Caller, inv.Code = s.who, &host.AdHocTool{Language: language, Text: code, Grants: seedGrants}
	return s.Run(s.t.Context(), inv)
}

func (s *samples) wantOutput(code, want string, inv host.Invocation) {
	s.t.Helper()
	if result, err := s.run("javascript", code, inv); err != nil || string(result.Output) != want {
		s.t.Errorf("the run = %s, %v; want %s\n%s", result.Output, err, want, code)
	}
}

func (s *samples) content(store string) string {
	s.t.Helper()
	return string(perform(s.t, s.Host, s.who, abi.GetContent, `"`+store+`"`))
}

// beforeDelete removes the last statement of a sample. This statement deletes the stored record.
func beforeDelete(t *testing.T, block string) string {
	t.Helper()
	code, _, found := strings.Cut(block, "Delete memory content")
	if !found {
		t.Fatalf("the sample deletes nothing:\n%s", block)
	}
	return strings.TrimRight(code, "/# ")
}

// wantPrefs checks the record that a sample has stored. The language must have changed, and the
// other orders must be unchanged.
func (s *samples) wantPrefs() {
	s.t.Helper()
	var got struct {
		Preferences struct {
			Language      string
			Notifications bool
		}
		RecentOrders []string
		LastVisit    string
	}
	if err := json.Unmarshal([]byte(s.content("userPrefs")), &got); err != nil {
		s.t.Fatal(err)
	}
	if got.Preferences.Language != "en" || !got.Preferences.Notifications || fmt.Sprint(got.RecentOrders) != "[a1 b2]" || !strings.HasPrefix(got.LastVisit, "20") {
		s.t.Errorf("the store contains %+v; want the values of the sample, and the previous orders", got)
	}
}

const seedPrefs = `{"preferences":{"language":"fr","notifications":false},"recentOrders":["a1","b2"],"lastVisit":"2026-01-01T00:00:00Z"}`

// TestSeedReadsAndWrites checks what the JavaScript samples of the documentation page read,
// project, store and delete.
func TestSeedReadsAndWrites(t *testing.T) {
	s := newSamples(t)
	block := s.blocks[3]
	perform(t, s.Host, s.who, abi.SetContent, `"userPrefs"`, seedPrefs)
	s.wantOutput(beforeDelete(t, block)+"\nreturn {prefs, partial}",
		`{"prefs":{"lastVisit":"2026-01-01T00:00:00Z","preferences":{"language":"fr","notifications":false},"recentOrders":["a1","b2"]},`+
			`"partial":{"lastVisit":"2026-01-01T00:00:00Z","preferences":{"language":"fr"}}}`, host.Invocation{})
	s.wantPrefs()
	s.wantOutput(block, `null`, host.Invocation{})
	if got := s.content("userPrefs"); got != "null" {
		t.Errorf("after the whole sample the store contains %s; want nothing", got)
	}
	s.wantOutput(`const write = memory.set_content("userPrefs", {recentOrders: ["c3"]}), read = memory.get_content("userPrefs"), gone = memory.delete_content("userPrefs");
		const all = [write, read, gone].map(p => p instanceof Promise); await Promise.all([write, read, gone]); return all`, `[true,true,true]`, host.Invocation{})
}

// TestSeedMissingAndTemporary runs the samples of the documentation page on a missing record and on
// a deleted record.
func TestSeedMissingAndTemporary(t *testing.T) {
	s := newSamples(t)
	if _, err := s.run("javascript", s.blocks[3], host.Invocation{}); !errors.Is(err, abi.ToolError) {
		t.Errorf("the sample that reads a field of a missing record = %v; want tool_error", err)
	}
	s.wantOutput(s.blocks[12]+"\nreturn [prefs, language]", `[null,"en"]`, host.Invocation{})
	perform(t, s.Host, s.who, abi.SetContent, `"userPrefs"`, seedPrefs)
	s.wantOutput(s.blocks[12]+"\nreturn language", `"fr"`, host.Invocation{})
	perform(t, s.Host, s.who, abi.SetContent, `"tempProcessingData"`, `{"step":1}`)
	s.wantOutput(s.blocks[13], `null`, host.Invocation{})
	if got := s.content("tempProcessingData"); got != "null" {
		t.Errorf("after the cleanup the store contains %s; want nothing", got)
	}
}

// TestSeedSession runs the code sample about sessions. The session has the metadata that the
// documentation page shows. TestSeedSession checks each field of sessionInfo.
func TestSeedSession(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	s := newSamples(t, func(o *host.Options) { o.Now = func() time.Time { return now } })
	var body struct{ Metadata json.RawMessage }
	if err := json.Unmarshal([]byte(s.blocks[7]), &body); err != nil {
		t.Fatal(err)
	}
	inv := host.Invocation{Metadata: body.Metadata, SessionReference: "call-8", UserReference: "u-1"}
	s.wantOutput(s.blocks[5]+"\nreturn [userId, channel, sessionId]", `["user_456","mobile_app","sess_123"]`, inv)
	result, err := s.run("javascript", s.blocks[5]+"\nreturn sessionMeta.sessionInfo", host.Invocation{})
	want := `{"sessionId":"sess_123","appId":"samples","sessionReference":"call-8","userReference":"u-1","userId":"ann","runId":"` +
		result.RunID + `","timestamp":"2030-01-01T12:00:00.000000Z"}`
	if err != nil || string(result.Output) != want {
		t.Errorf("sessionInfo = %s, %v; want %s", result.Output, err, want)
	}
	other := *s
	other.who.Session = "sess_124"
	other.wantOutput(s.blocks[5]+"\nreturn [sessionMeta.metadata, sessionId]", `[{},"sess_124"]`, host.Invocation{})
}

// refuseMeta runs code that tries to change sessionMeta. The run must fail, and the metadata must
// not change.
func (s *samples) refuseMeta(language string, codes ...string) {
	s.t.Helper()
	if _, err := s.Sessions().Start(s.t.Context(), s.who, sessionStart(json.RawMessage(`{"channel":"web"}`))); err != nil {
		s.t.Fatal(err)
	}
	for _, code := range codes {
		if _, err := s.run(language, code, host.Invocation{}); !errors.Is(err, abi.ReadOnly) {
			s.t.Errorf("%s = %v; want read_only", code, err)
		}
	}
	if found, err := s.Sessions().Get(s.t.Context(), s.who); err != nil || string(found.Metadata) != `{"channel":"web"}` {
		s.t.Errorf("the metadata is %s, %v; want it as the API set it", found.Metadata, err)
	}
}

func TestSeedMetaIsReadOnly(t *testing.T) {
	newSamples(t).refuseMeta("javascript",
		`await memory.set_content("sessionMeta", {metadata: {channel: "forged"}})`, `await memory.delete_content("sessionMeta")`)
}

// The documentation page contains a loop over the files of a session. TestSeedFiles runs this loop
// in a session that has files and in a session that has no files.
func TestSeedFiles(t *testing.T) {
	s := newSamples(t, func(o *host.Options) {
		o.FileURL = func(_ string, f artifact.Artifact) string { return "https://files.example/" + f.Filename }
	})
	if result, err := s.run("javascript", s.blocks[9], host.Invocation{}); err != nil || len(result.Logs) != 0 {
		t.Errorf("without a file the sample logs %v, %v; want nothing", result.Logs, err)
	}
	for name, mediaType := range map[string]string{"a.txt": "text/plain", "b.png": "image/png"} {
		f, err := s.Artifacts().Add(t.Context(), s.who, artifact.Upload{Filename: name, MediaType: mediaType, Content: []byte("x")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Artifacts().SetActive(t.Context(), s.who, f.ID, name == "a.txt"); err != nil {
			t.Fatal(err)
		}
	}
	result, err := s.run("javascript", s.blocks[9], host.Invocation{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, line := range result.Logs {
		lines = append(lines, line.Text)
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{"a.txt\ntext/plain\nhttps://files.example/a.txt\ntrue", "b.png\nimage/png\nhttps://files.example/b.png\nfalse"} {
		if !strings.Contains(text, want) || len(lines) != 8 {
			t.Errorf("the sample logs:\n%s\nwant:\n%s", text, want)
		}
	}
}
