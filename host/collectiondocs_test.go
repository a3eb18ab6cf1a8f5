package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// importText imports a text and checks the numbers of entries.
func importText(t *testing.T, h *host.Host, c host.Caller, d host.Document, entries, unchanged, removed int) {
	t.Helper()
	done, err := host.CollectionsOf(h).ImportDocument(t.Context(), c, "kb", d, nil)
	want := host.ImportedDocument{Source: d.Source, Entries: entries, Unchanged: unchanged, Removed: removed}
	if err != nil || done != want {
		t.Errorf("ImportDocument(%s) = %+v, %v; want %+v", d.Source, done, err, want)
	}
}

// storedEntries returns all entries of the collection kb.
func storedEntries(t *testing.T, h *host.Host) (all []memory.Entry) {
	t.Helper()
	for q := (memory.EntryQuery{Collection: "kb", Limit: 1000}); ; {
		found, next, err := host.CollectionsOf(h).List(t.Context(), host.Caller{}, q)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
		if q.After = next; next == "" {
			return all
		}
	}
}

func TestImportDocument(t *testing.T) {
	h := openCollections(t)
	remember(t, h, host.Caller{}, "kb", host.NewEntry{ID: "r1", Content: text("by hand"), Metadata: json.RawMessage(`{"source":"guide.md"}`)})
	guide := host.Document{
		Source: "guide.md", Text: "# Guide\n\nHow to use it.\n\n## Install <b> & go\n\nCopy the file.\f## Remove\n\nDelete the file.\n",
		Metadata: json.RawMessage(`{"team":"docs"}`),
	}
	importText(t, h, host.Caller{}, guide, 3, 0, 0)
	other := guide
	other.Source = "other.md"
	importText(t, h, host.Caller{}, other, 3, 0, 0)
	importText(t, h, host.Caller{}, guide, 3, 3, 0)
	found, err := host.CollectionsOf(h).Recall(t.Context(), host.Caller{}, host.RecallEntries{Collection: "kb", Query: "delete", Mode: "text", Filter: json.RawMessage(`{"source":"guide.md"}`)})
	if err != nil || len(found) != 1 || string(found[0].Metadata) != `{"heading":"Guide / Remove","offset":61,"page":2,"source":"guide.md","team":"docs"}` || string(found[0].Content) != `"## Remove\n\nDelete the file."` {
		t.Fatalf("Recall = %+v, %v", found, err)
	}
	before := map[string]memory.Entry{}
	for _, e := range storedEntries(t, h) {
		before[e.ID] = e
	}
	guide.Text = strings.Replace(guide.Text, "Copy the file.", "Copy both files.", 1)
	importText(t, h, host.Caller{}, guide, 3, 1, 1) // only the last entry's offset has changed
	kept := 0
	for _, e := range storedEntries(t, h) {
		if before[e.ID].ID != "" {
			kept++
		}
		if strings.Contains(string(e.Content), "Copy the file") && !strings.Contains(string(e.Metadata), "other.md") {
			t.Errorf("the entry %s of the earlier version is stored", e.Content)
		}
	}
	if kept != len(before)-1 || before["r1"].ID == "" {
		t.Errorf("%d of %d entries are kept; want all but one", kept, len(before))
	}
	guide.TTL = "30d"
	importText(t, h, host.Caller{}, guide, 3, 0, 0)
	guide.Namespace = "de"
	importText(t, h, host.Caller{}, guide, 3, 0, 0)
}

// The import and the removal of a long document take several transactions.
func TestImportLongDocument(t *testing.T) {
	h := openCollections(t)
	section := func(i int) string { return fmt.Sprintf("# Section %d\n\nThe text of the section %d.\n\n", i, i) }
	var long strings.Builder
	for i := range 700 {
		long.WriteString(section(i))
	}
	steps := []int{}
	done, err := host.CollectionsOf(h).ImportDocument(t.Context(), host.Caller{}, "kb", host.Document{Source: "a", Text: long.String()}, func(n int) { steps = append(steps, n) })
	if err != nil || done.Entries != 700 || done.Removed != 0 || len(steps) != 3 || steps[2] != 700 || len(storedEntries(t, h)) != 700 {
		t.Fatalf("ImportDocument = %+v, %v, after %v", done, err, steps)
	}
	importText(t, h, host.Caller{}, host.Document{Source: "a", Text: long.String()}, 700, 700, 0)
	importText(t, h, host.Caller{}, host.Document{Source: "a", Text: section(0) + section(1)}, 2, 2, 698)
	if n := len(storedEntries(t, h)); n != 2 {
		t.Errorf("%d entries are stored; want 2", n)
	}
}

func TestImportDocumentFaults(t *testing.T) {
	h := openCollections(t)
	for _, tt := range []struct {
		name string
		d    host.Document
		to   string
		code abi.Code
	}{
		{"no source", host.Document{Text: "a"}, "kb", abi.InvalidArgument},
		{"a control character", host.Document{Source: "a\x00", Text: "a"}, "kb", abi.InvalidArgument},
		{"a long source", host.Document{Source: strings.Repeat("a", 2000), Text: "a"}, "kb", abi.InvalidArgument},
		{"no text", host.Document{Source: "a", Text: " \n"}, "kb", abi.InvalidArgument},
		{"bytes", host.Document{Source: "a", Text: "\xff"}, "kb", abi.InvalidArgument},
		{"a list", host.Document{Source: "a", Text: "a", Metadata: json.RawMessage(`[]`)}, "kb", abi.InvalidArgument},
		{"a name", host.Document{Source: "a", Text: "a", Metadata: json.RawMessage(`{"page":1}`)}, "kb", abi.InvalidArgument},
		{"long metadata", host.Document{Source: "a", Text: "a", Metadata: json.RawMessage(`{"a":"` + strings.Repeat("a", 20<<10) + `"}`)}, "kb", abi.TooLarge},
		{"a ttl", host.Document{Source: "a", Text: "a", TTL: "soon"}, "kb", abi.InvalidArgument},
		{"a namespace", host.Document{Source: "a", Text: "a", Namespace: strings.Repeat("a", 300)}, "kb", abi.InvalidArgument},
		{"no user", host.Document{Source: "a", Text: "a"}, "diary", abi.NoUser},
		{"no collection", host.Document{Source: "a", Text: "a"}, "prefs", abi.NotFound},
	} {
		if _, err := host.CollectionsOf(h).ImportDocument(t.Context(), host.Caller{}, tt.to, tt.d, nil); !errors.Is(err, tt.code) {
			t.Errorf("%s: %v; want %s", tt.name, err, tt.code)
		}
	}
	if found := storedEntries(t, h); len(found) != 0 {
		t.Errorf("%d entries are stored", len(found))
	}
}

// If the offset of a chunk changes but its text does not, the chunk keeps its vector. Each import
// uses a new host, so the host's cache of vectors is empty.
func TestImportKeepsVectors(t *testing.T) {
	backend, ann := mem.New(), host.Caller{User: "ann"}
	const text = "# One\n\nfirst\n\n# Two\n\nsecond\n"
	for _, tt := range []struct{ text, sent string }{
		{text, `["# One\n\nfirst","# Two\n\nsecond"]`},
		{strings.Replace(text, "first", "first, again", 1), `["# One\n\nfirst, again"]`},
		{"\n" + strings.Replace(text, "first", "first, again", 1), ""},
	} {
		h, server := openEmbedding(t, "return 1", "", func(o *host.Options) { o.Backend = backend })
		done, err := host.CollectionsOf(h).ImportDocument(t.Context(), ann, "kb", host.Document{Source: "a.md", Text: tt.text, TTL: "1d"}, nil)
		if err != nil || done.Entries != 2 || done.Unchanged != 0 {
			t.Fatalf("ImportDocument(%q) = %+v, %v", tt.text, done, err)
		}
		sent := ""
		for _, r := range server.Requests() {
			var body struct{ Input json.RawMessage }
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
			sent += string(body.Input)
		}
		if sent != tt.sent && len(sent) != len(tt.sent) { // entries are sorted by id
			t.Errorf("the import of %q embedded %s; want %s", tt.text, sent, tt.sent)
		}
		found, err := host.CollectionsOf(h).Recall(t.Context(), ann, host.RecallEntries{Collection: "kb", Query: "# Two\n\nsecond", Mode: "vector"})
		if err != nil || len(found) == 0 || !strings.Contains(string(found[0].Content), "second") {
			t.Errorf("Recall = %+v, %v", found, err)
		}
	}
}
