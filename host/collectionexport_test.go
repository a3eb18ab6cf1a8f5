package host_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host"
)

// TestExportUserCollections checks the entries in the export of a user. The export must contain
// exactly those entries that an erasure of the user would remove, and their contents.
func TestExportUserCollections(t *testing.T) {
	h := openCollections(t)
	fillCollections(t, h)
	remember(t, h, host.Caller{User: "ann"}, "kb", host.NewEntry{ID: "a1", Content: text("Ann wrote this for the app.")})
	records := exported(t, h, "ann")["records.ndjson"]
	for _, want := range []string{
		`"store":"diary","item":"/d1","user_id":"ann"`, `"content":{"content":"I like green tea."}`,
		`"store":"chats","item":"s1/m1","user_id":"ann"`, `"content":{"content":"green tea, please"}`,
		`"store":"tips","item":"/t1"`, `"content":{"content":"Ask for Ann."}`,
	} {
		if !strings.Contains(records, want) {
			t.Errorf("records.ndjson = %s; want %s", records, want)
		}
	}
	if n := strings.Count(records, "\n"); n != 3 || strings.Contains(records, "kb") || strings.Contains(records, "coffee") {
		t.Errorf("records.ndjson has %d records, %s; want three of ann", n, records)
	}
}
