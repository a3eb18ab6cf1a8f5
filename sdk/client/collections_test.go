package client_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

func collections(t *testing.T, c *client.Client) {
	ctx, ben, h, none := t.Context(), client.Caller{User: "ben"}, c.Collections(), ""
	stored := must(h.Remember(ctx, ben, "articles",
		apitypes.NewEntry{ID: "r/1", Content: json.RawMessage(`"We refund a broken cup."`), Metadata: json.RawMessage(`{"category":"refunds"}`), TTL: "1d"},
		apitypes.NewEntry{Content: json.RawMessage(`{"text":"A parcel takes a week."}`)},
		apitypes.NewEntry{ID: "r/1", Namespace: "mine", Content: json.RawMessage(`"green tea"`)}))(t)
	if len(stored) != 3 || stored[0].ID != "r/1" || stored[0].Expires == nil || stored[1].ID == "" {
		t.Errorf("Remember = %+v", stored)
	}
	found := must(h.Recall(ctx, ben, "articles", apitypes.EntrySearch{Query: "broken cup", Filter: json.RawMessage(`{"category":"refunds"}`), Scores: true}))(t)
	if len(found) != 1 || found[0].ID != "r/1" || found[0].Vector == nil {
		t.Errorf("Recall = %+v", found)
	}
	if e := must(h.Entry(ctx, ben, "articles", "mine", "r/1"))(t); string(e.Content) != `"green tea"` || e.User != "ben" {
		t.Errorf("Entry = %+v", e)
	}
	if _, err := h.Entry(ctx, ben, "articles", "", "missing"); !errors.Is(err, abi.NotFound) {
		t.Errorf("Entry of a missing id = %v; want not_found", err)
	}
	mine := "mine"
	for q, want := range map[*string]int{nil: 3, &none: 2, &mine: 1} {
		n := 0
		for e, err := range h.AllEntries(ctx, ben, "articles", client.EntryQuery{Namespace: q, PageQuery: client.PageQuery{Limit: 1}}) {
			if n++; err != nil || e.Revision == 0 {
				t.Fatalf("AllEntries returned %+v, %v", e, err)
			}
		}
		if n != want {
			t.Errorf("AllEntries has %d entries; want %d", n, want)
		}
	}
	guide := apitypes.ImportQuery{Source: "guides/tea.md", Namespace: "docs", Metadata: `{"team":"a"}`, TTL: "1d"}
	for range 2 {
		if done := must(h.ImportFile(ctx, ben, "articles", "tea.md", "", strings.NewReader("# Tea\n\ngreen"), guide))(t); done.Source != "guides/tea.md" || done.Entries != 1 || done.Removed != 0 {
			t.Errorf("ImportFile = %+v", done)
		}
	}
	if _, err := h.ImportFile(ctx, ben, "articles", "tea.html", "", strings.NewReader("<p>"), apitypes.ImportQuery{}); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("ImportFile of a file without text = %v; want invalid_argument", err)
	}
	must(h.Forget(ctx, ben, "articles", apitypes.EntrySelector{Namespace: "docs", Filter: json.RawMessage(`{"source":"guides/tea.md","team":"a"}`)}))(t)
	if state := must(h.Reembed(ctx, "articles"))(t); !state.Done || state.Moved != 0 || state.Dimension == 0 {
		t.Errorf("Reembed = %+v", state)
	}
	if d := must(h.Get(ctx, "articles"))(t); d.Entries != 3 || d.Declared {
		t.Errorf("Get = %+v", d)
	}
	if list := must(h.List(ctx))(t); len(list) != 1 || list[0].Name != "articles" {
		t.Errorf("List = %+v", list)
	}
	if done := must(h.Forget(ctx, ben, "articles", apitypes.EntrySelector{ID: "r/1"}))(t); done.Count != 1 || done.More {
		t.Errorf("Forget = %+v", done)
	}
}
