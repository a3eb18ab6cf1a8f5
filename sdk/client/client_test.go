package client_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

// inBody lists operations that no method of the client uses, because Run and StreamRun pass the
// session in the body instead.
var inBody = []string{"POST /api/v1/sessions/{session_id}/runs", "POST /api/v1/sessions/{session_id}/runs/stream"}

// TestOperations uses every operation of the API.
func TestOperations(t *testing.T) {
	s := newService(t)
	c := s.as(t, "operator")
	t.Run("runs", func(t *testing.T) { runs(t, c) })
	t.Run("sessions", func(t *testing.T) { sessions(t, c) })
	t.Run("files", func(t *testing.T) { files(t, c) })
	t.Run("stores", func(t *testing.T) { stores(t, c) })
	t.Run("records", func(t *testing.T) { records(t, c) })
	t.Run("facts", func(t *testing.T) { facts(t, c) })
	t.Run("agents", func(t *testing.T) { agents(t, c) })
	t.Run("blocks", func(t *testing.T) { blocks(t, c) })
	t.Run("collections", func(t *testing.T) { collections(t, c) })
	t.Run("approvals", func(t *testing.T) { approvals(t, c) })
	t.Run("sleep", func(t *testing.T) { sleep(t, c) })
	t.Run("usage", func(t *testing.T) { usage(t, c) })
	t.Run("ledger", func(t *testing.T) { ledger(t, c) })
	t.Run("backup", func(t *testing.T) { backup(t, s) })
	for _, route := range s.api.Routes() {
		pattern := route.Method + " " + route.Path
		if s.requested[pattern] == 0 && !slices.Contains(inBody, pattern) {
			t.Errorf("no method uses %s", pattern)
		}
	}
}

var ann = client.Caller{User: "ann", Session: "s1"}

func run(tool, input string) apitypes.RunRequest {
	return apitypes.RunRequest{Tool: tool, RunFields: apitypes.RunFields{User: "ann", Session: "s1", Input: json.RawMessage(input)}}
}

func runs(t *testing.T, c *client.Client) {
	ctx := t.Context()
	result := must(c.Run(ctx, run("remember", `{"language": "fr"}`)))(t)
	if compact(t, result.Output) != `{"visits":1}` || len(result.Logs) != 2 || len(result.Effects.Writes) != 1 {
		t.Errorf("Run = %+v; want the first visit, two lines and a write", result)
	}
	dry := run("remember", `{}`)
	dry.DryRun = true
	if result := must(c.Run(ctx, dry))(t); len(result.Changes) != 1 || len(result.Effects.Writes) != 1 {
		t.Errorf("a dry run changes %v; want one record", result.Changes)
	}
	first := must(c.Run(ctx, run("remember", `{}`), client.IdempotencyKey("k1")))(t)
	again := must(c.Run(ctx, run("remember", `{}`), client.IdempotencyKey("k1")))(t)
	if first.Repeated || !again.Repeated || again.RunID != first.RunID || compact(t, again.Output) != `{"visits":2}` {
		t.Errorf("a repeated run = %+v; want the Result of %s", again, first.RunID)
	}
	code := apitypes.CodeRequest{Language: "javascript", Code: `return (await memory.get_content("prefs")).visits`, Grants: map[string]string{"prefs": "read"}, RunFields: run("", `{}`).RunFields}
	if result := must(c.RunCode(ctx, code))(t); string(result.Output) != "2" {
		t.Errorf("RunCode = %s; want 2", result.Output)
	}
	var lines []string
	result = must(c.StreamRun(ctx, run("remember", `{}`), func(attempt int, line abi.LogLine) {
		lines = append(lines, fmt.Sprint(attempt, " ", line.Level, " ", line.Text))
	}))(t)
	if want := []string{"1 info seen 2", "1 warn and stored"}; !slices.Equal(lines, want) || compact(t, result.Output) != `{"visits":3}` {
		t.Errorf("StreamRun = %s with the lines %q; want %q", result.Output, lines, want)
	}
	lines = nil
	code.Code = `console.log("as code"); return 7`
	var id string
	result = must(c.StreamRunCode(ctx, code, func(_ int, line abi.LogLine) { lines = append(lines, id+line.Text) },
		client.OnRunID(func(begun string) { id = begun })))(t)
	if string(result.Output) != "7" || id != result.RunID || !slices.Equal(lines, []string{id + "as code"}) {
		t.Errorf("StreamRunCode = %s with the lines %q; want 7, and the id %q before the line", result.Output, lines, result.RunID)
	}
	if found := must(c.Runs().Get(ctx, id))(t); found.Status != "done" || found.Result == nil || string(found.Result.Output) != "7" {
		t.Errorf("Runs.Get = %+v; want the ended run", found)
	}
	cancelled(t, c)
	if tools := must(c.Tools(ctx))(t); len(tools) != 4 || tools[0].Name == "" {
		t.Errorf("Tools = %v; want four with names", tools)
	}
}

// cancelled cancels a streamed run.
func cancelled(t *testing.T, c *client.Client) {
	var id string
	endless := run("wait", `{}`)
	endless.TimeoutMS = 170_000
	result, err := c.StreamRun(t.Context(), endless, func(int, abi.LogLine) {
		if found := must(c.Runs().Cancel(t.Context(), id))(t); !found.Cancelled || found.ID != id {
			t.Errorf("Runs.Cancel = %+v; want the run %s, cancelled", found, id)
		}
	}, client.OnRunID(func(begun string) { id = begun }))
	if !errors.Is(err, abi.Cancelled) || result == nil || result.RunID != id {
		t.Errorf("a cancelled run = %+v, %v; want its Result", result, err)
	}
}

func sessions(t *testing.T, c *client.Client) {
	ctx := t.Context()
	message := "Hello"
	if started := must(c.Sessions().Start(ctx, apitypes.SessionRequest{User: "eve", Message: &message}))(t); started.ID == "" || started.Result == nil || !errors.Is(started.Result.Error, abi.ToolError) {
		t.Errorf("Sessions.Start with a message = %+v; want the Result of the default tool, which fails", started)
	}
	started := must(c.Sessions().Start(ctx, apitypes.SessionRequest{Session: "a:b@c=d+e", User: "ann", Metadata: json.RawMessage(`{"userName":"Ann"}`)}))(t)
	odd := client.Caller{User: "ann", Session: started.ID}
	changed := must(c.Sessions().SetMetadata(ctx, odd, json.RawMessage(`{"plan":"gold"}`)))(t)
	if compact(t, changed.Metadata) != `{"plan":"gold","userName":"Ann"}` || changed.ID != "a:b@c=d+e" {
		t.Errorf("Sessions.SetMetadata = %+v; want both members, in the session with the odd id", changed)
	}
	if got := must(c.Sessions().Get(ctx, odd))(t); got.Ended != nil || got.User != "ann" || got.Started.IsZero() {
		t.Errorf("Sessions.Get = %+v; want an open one of ann", got)
	}
	rendered := must(c.Render(ctx, odd, "greeting"))(t)
	if rendered.Text != "Hello Ann, fr" {
		t.Errorf("Render = %q; want the metadata and the record", rendered.Text)
	}
	if prompts := must(c.Prompts(ctx))(t); len(prompts) != 1 || prompts[0].Name != "greeting" {
		t.Errorf("Prompts = %v", prompts)
	}
	for i := range 5 {
		must(c.Sessions().Start(ctx, apitypes.SessionRequest{Session: fmt.Sprintf("p%d", i), User: "ben"}))(t)
	}
	var ids []string
	for session, err := range c.Sessions().All(ctx, client.SessionQuery{User: "ben", Limit: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, session.ID)
	}
	if got := strings.Join(ids, " "); got != "p0 p1 p2 p3 p4" {
		t.Errorf("Sessions.All in pages of two = %s; want all five", got)
	}
	if ended := must(c.Sessions().End(ctx, odd))(t); ended.Ended == nil {
		t.Errorf("Sessions.End = %+v; want an ended session", ended)
	}
	_, err := c.Run(ctx, apitypes.RunRequest{Tool: "remember", RunFields: apitypes.RunFields{User: "ann", Session: odd.Session}})
	if !errors.Is(err, abi.SessionEnded) {
		t.Errorf("a run in a session that has ended: %v; want session_ended", err)
	}
}

func files(t *testing.T, c *client.Client) {
	ctx := t.Context()
	text := strings.Repeat("a line\n", 10_000)
	file := must(c.Files().Upload(ctx, ann, "notes “1”.txt", "", strings.NewReader(text)))(t)
	if file.Filename != "notes “1”.txt" || file.Bytes != int64(len(text)) || !file.HasText || !file.Active || file.URL == "" {
		t.Errorf("Files.Upload = %+v", file)
	}
	typed := must(c.Files().Upload(ctx, ann, "data.json", "application/json; charset=utf-8", strings.NewReader(`{"a":1}`)))(t)
	if list := must(c.Files().List(ctx, ann))(t); len(list) != 2 {
		t.Errorf("Files.List = %v; want two", list)
	}
	if changed := must(c.Files().Change(ctx, ann, typed.ID, apitypes.FileChange{Active: false}))(t); changed.Active {
		t.Error("Files.Change left the file active")
	}
	download := must(c.Files().Download(ctx, ann, file.ID))(t)
	defer download.Close()
	got := must(io.ReadAll(download))(t)
	if string(got) != text || download.Name != file.Filename || !strings.HasPrefix(download.MediaType, "text/plain") {
		t.Errorf("Files.Download = %d bytes of %q, %s", len(got), download.Name, download.MediaType)
	}
	unwanted := must(c.Files().Upload(ctx, ann, "unwanted.txt", "", strings.NewReader("x")))(t)
	if gone := must(c.Files().Delete(ctx, ann, unwanted.ID))(t); gone.Filename != "unwanted.txt" {
		t.Errorf("Files.Delete = %+v", gone)
	}
	if _, err := c.Files().Delete(ctx, ann, unwanted.ID); !errors.Is(err, abi.NotFound) {
		t.Errorf("Files.Delete of a deleted file = %v; want not_found", err)
	}
	if _, err := c.Files().Upload(ctx, ann, "not.pdf", "", strings.NewReader("no PDF")); err == nil {
		t.Error("Files.Upload of a text as not.pdf = nil; want an error")
	}
	if _, err := c.Files().Upload(ctx, ann, "x.txt", "no media type", strings.NewReader("x")); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("Files.Upload with a malformed media type = %v; want invalid_argument", err)
	}
}

func stores(t *testing.T, c *client.Client) {
	ctx := t.Context()
	created := must(c.Stores().Create(ctx, apitypes.Store{TechnicalName: "notes", Access: "user"}))(t)
	if created.Declared != "api" {
		t.Errorf("Stores.Create = %+v; want a store of the API", created)
	}
	changed := *created
	changed.Description, changed.Declared = "what was noted", ""
	must(c.Stores().Replace(ctx, changed))(t)
	if got := must(c.Stores().Get(ctx, "notes"))(t); got.Description != "what was noted" {
		t.Errorf("Stores.Get = %+v; want the change", got)
	}
	if list := must(c.Stores().List(ctx))(t); len(list) != 3 {
		t.Errorf("Stores.List = %v; want three", list)
	}
	document := must(c.Export(ctx))(t)
	if !json.Valid(document) || !bytes.Contains(document, []byte(`"notes"`)) {
		t.Errorf("Export = %s", document)
	}
	if imported := must(c.Import(ctx, document))(t); !slices.Equal(imported.Stores, []string{"notes"}) || len(imported.LeftOut) == 0 {
		t.Errorf("Import = %+v; want the store that the file does not declare, and the omitted parts", imported)
	}
	if who := must(c.Whoami(ctx))(t); who.Name != "op" || !slices.Equal(who.Apps, []string{"shop"}) {
		t.Errorf("Whoami = %+v", who)
	}
}

func records(t *testing.T, c *client.Client) {
	ctx := t.Context()
	none, ben := int64(0), client.Caller{User: "ben"}
	put := must(c.Records().Put(ctx, ben, "prefs", json.RawMessage(`{"language":"it"}`), client.WriteOptions{IfRevision: &none, TTL: "1h"}))(t)
	if put.Revision != 1 || put.Expires == nil {
		t.Errorf("Records.Put = %+v; want the first revision, with an expiry", put)
	}
	patched := must(c.Records().Patch(ctx, ben, "prefs", json.RawMessage(`{"visits":7}`), client.WriteOptions{IfRevision: &put.Revision}))(t)
	if compact(t, patched.Content) != `{"language":"it","visits":7}` {
		t.Errorf("Records.Patch = %s", patched.Content)
	}
	picked := must(c.Records().Get(ctx, ben, "prefs", json.RawMessage(`{"visits":1}`)))(t)
	if compact(t, picked.Content) != `{"visits":7}` || picked.Revision != 2 {
		t.Errorf("Records.Get = %+v; want the members of the projection", picked)
	}
	for _, tt := range []struct {
		name     string
		revision int64
	}{{"an old revision", 1}, {"none", 0}} {
		_, err := c.Records().Put(ctx, ben, "prefs", json.RawMessage(`{}`), client.WriteOptions{IfRevision: &tt.revision})
		if e := (*client.Error)(nil); !errors.Is(err, abi.Conflict) || !errors.As(err, &e) || e.Status != http.StatusPreconditionFailed {
			t.Errorf("Records.Put on %s: %v; want a conflict, 412", tt.name, err)
		}
		if _, err := c.Records().Delete(ctx, ben, "prefs", &tt.revision); !errors.Is(err, abi.Conflict) {
			t.Errorf("Records.Delete on %s: %v; want a conflict", tt.name, err)
		}
	}
	var list []apitypes.RecordInfo
	for record, err := range c.Records().All(ctx, client.Caller{}, "prefs") {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, record)
	}
	if len(list) != 2 || list[0].Bytes == 0 {
		t.Errorf("Records.All = %v; want those of ann and ben", list)
	}
	page := must(c.Records().List(ctx, client.Caller{}, "prefs", client.PageQuery{Limit: 1}))(t)
	if len(page.Items) != 1 || page.Next == "" {
		t.Errorf("Records.List = %v; want one record and a next", page)
	}
	if deleted := must(c.Records().Delete(ctx, ben, "prefs", nil))(t); !deleted.Deleted {
		t.Error("Records.Delete found no record")
	}
	if _, err := c.Records().Get(ctx, ben, "prefs", nil); !errors.Is(err, abi.NotFound) {
		t.Errorf("a record that was deleted: %v; want not_found", err)
	}
	must(c.Records().Put(ctx, client.Caller{}, "flags", json.RawMessage(`{"beta":true}`), client.WriteOptions{}))(t)
	if n := must(c.Records().Purge(ctx, "flags"))(t); n != 1 {
		t.Errorf("Records.Purge = %d; want 1", n)
	}
}

func backup(t *testing.T, s *service) {
	c := s.as(t, "backup")
	var buf bytes.Buffer
	if n, err := c.Backup(t.Context(), &buf); n != 1<<20 || buf.Len() != 1<<20 || err != nil {
		t.Errorf("Backup = %d, %v, and wrote %d bytes; want 1 MiB", n, err, buf.Len())
	}
	s.left = 10
	if n, err := c.Backup(t.Context(), io.Discard); err == nil {
		t.Errorf("an incomplete backup = %d; want an error", n)
	}
	s.left = 0
	if _, err := s.as(t, "operator").Backup(t.Context(), io.Discard); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("Backup as a tenant's operator = %v; want %v", err, abi.AccessDenied)
	}
}

func usage(t *testing.T, c *client.Client) {
	today := time.Now().UTC()
	found := 0
	for used, err := range c.Usage().All(t.Context(), client.UsageQuery{Since: today.AddDate(0, 0, -1), Until: today.AddDate(0, 0, 2), Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		if found++; used.Runs == 0 || used.Repeated == 0 || used.StoredBytes == 0 {
			t.Errorf("usage = %+v; want runs, repeats and bytes", used)
		}
	}
	if found != 1 {
		t.Errorf("%d apps have usage; want 1", found)
	}
	if none := must(c.Usage().List(t.Context(), client.UsageQuery{Since: today.AddDate(0, 0, 2)}))(t); len(none.Items) != 1 || none.Items[0].Runs != 0 {
		t.Errorf("usage of future days = %+v; want no runs", none)
	}
}

// exported exports the data of the user ann.
func exported(t *testing.T, c *client.Client) {
	var buf bytes.Buffer
	n, err := c.Users().Export(t.Context(), "ann", &buf)
	if err != nil || n != int64(buf.Len()) {
		t.Fatalf("Users.Export = %d, %v, but wrote %d bytes", n, err, buf.Len())
	}
	archive, err := zip.NewReader(bytes.NewReader(buf.Bytes()), n)
	if err != nil {
		t.Fatal(err)
	}
	if records := string(must(fs.ReadFile(archive, "records.ndjson"))(t)); !strings.Contains(records, `"store":"prefs"`) || !strings.Contains(records, `"content":{`) {
		t.Errorf("the exported records of ann are %s; want a record of the store prefs with its content", records)
	}
	if _, err := c.Users().Export(t.Context(), "", io.Discard); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("Users.Export without a user = %v; want invalid_argument", err)
	}
}

func ledger(t *testing.T, c *client.Client) {
	ctx := t.Context()
	page := must(c.Ledger().List(ctx, client.LedgerQuery{Tool: "remember", Writes: true, Limit: 1}))(t)
	if len(page.Items) > 1 || page.Next == "" {
		t.Errorf("Ledger.List with the limit 1 = %+v; want at most one entry, and Next", page)
	}
	runs := map[string]bool{}
	for entry, err := range c.Ledger().All(ctx, client.LedgerQuery{Tool: "remember", Writes: true, Limit: 1, Since: page.Items[0].At}) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.Tool != "remember" || len(entry.Writes) == 0 {
			t.Errorf("Ledger.All returned %+v; want only entries of the tool remember with writes", entry)
		}
		runs[entry.Run] = true
	}
	if len(runs) != 3 {
		t.Errorf("the ledger has %d runs that wrote; want 3", len(runs))
	}
	exported(t, c)
	erased := must(c.Users().Erase(ctx, "ann"))(t)
	if erased.User != "ann" || erased.Stores["prefs"] != 1 || erased.Entries == 0 || erased.Files != 2 {
		t.Errorf("Users.Erase = %+v", erased)
	}
}

// TestConcurrent uses one client from many goroutines.
func TestConcurrent(t *testing.T) {
	c := newService(t).as(t, "operator")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			request := apitypes.RunRequest{Tool: "remember", RunFields: apitypes.RunFields{User: fmt.Sprint("user", i)}}
			for visit := 1; visit <= 3; visit++ {
				result, err := c.Run(t.Context(), request)
				if want := fmt.Sprintf(`{"visits":%d}`, visit); err != nil || string(result.Output) != want {
					t.Errorf("visit %d of user %d: %v, %v", visit, i, result, err)
				}
			}
		})
	}
	all.Wait()
}
