package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/server/tenants"
)

var helpdesk = fstest.MapFS{"app.yaml": {Data: []byte(`
app: shop
memory:
  kb: {kind: collection, access: application, erase: never}
  diary: {kind: collection, access: user, retention: 90d}
`)}}

func TestCollections(t *testing.T) {
	s := newServiceWith(t, helpdesk, func(*tenants.Options) {})
	const kb = "/api/v1/collections/kb"
	var stored apitypes.StoredEntries
	s.want(200, "operator", "POST", kb+"/entries", `{"entries":[
		{"id":"r1","namespace":"","metadata":{"category":"refunds"},"ttl":"30d","content":"We refund a broken cup."},
		{"content":{"title":"Norway","text":"A parcel takes a week."},"metadata":{"category":"shipping"}},
		{"id":"r1","namespace":"fr","content":"Nous remboursons une tasse."}]}`).into(t, &stored)
	if len(stored.Entries) != 3 || stored.Entries[0].ID != "r1" || stored.Entries[0].Expires == nil || stored.Entries[1].ID == "" || stored.Entries[1].Expires != nil {
		t.Errorf("stored entries = %+v", stored)
	}
	var found apitypes.FoundEntries
	s.want(200, "runtime", "POST", kb+"/recall", `{"query":"broken cup","filter":{"category":{"in":["refunds"]}},"scores":true}`).into(t, &found)
	if found.Count != 1 || len(found.Results) != 1 || found.Results[0].ID != "r1" || found.Results[0].Text == nil || string(found.Results[0].Metadata) != `{"category":"refunds"}` {
		t.Errorf("found entries = %+v", found)
	}
	for query, want := range map[string]int{"": 3, "?namespace=fr": 1, "?default_namespace=true": 2, "?limit=2": 2} {
		var page apitypes.List[apitypes.Entry]
		s.want(200, "operator", "GET", kb+"/entries"+query, "").into(t, &page)
		if len(page.Items) != want || (page.Next != "") != (query == "?limit=2") {
			t.Errorf("the entries%s = %+v; want %d", query, page, want)
		}
	}
	var e apitypes.Entry
	s.want(200, "operator", "GET", kb+"/entry?id=r1&namespace=fr", "").into(t, &e)
	if string(e.Content) != `"Nous remboursons une tasse."` || e.Namespace != "fr" {
		t.Errorf("the entry = %+v", e)
	}
	var forgotten apitypes.Forgotten
	s.want(200, "operator", "POST", kb+"/forget", `{"all":true}`).into(t, &forgotten)
	var c apitypes.Collection
	s.want(200, "read-only", "GET", kb, "").into(t, &c)
	if forgotten.Count != 2 || forgotten.More || c.Entries != 1 || c.Namespaces != 1 || c.Embedder == "" || c.Erase != "never" || !c.Declared {
		t.Errorf("after the removal %+v, the collection = %+v", forgotten, c)
	}
	var list apitypes.List[apitypes.Collection]
	if s.want(200, "operator", "GET", "/api/v1/collections", "").into(t, &list); len(list.Items) != 2 || list.Items[1].Name != "diary" || list.Items[1].Entries != 0 {
		t.Errorf("the collections = %+v", list)
	}
}

// A user can read only the entries that belong to the user, and not the entries of the app.
func TestCollectionsOfUsers(t *testing.T) {
	s := newServiceWith(t, helpdesk, func(*tenants.Options) {})
	s.want(200, "operator", "POST", "/api/v1/collections/kb/entries", `{"entries":[{"id":"r1","content":"We refund a broken cup."}]}`)
	for _, user := range []string{"ann", "bob"} {
		s.want(200, "operator", "POST", "/api/v1/collections/diary/entries?user_id="+user, `{"entries":[{"id":"d1","content":"the tea of `+user+`"}]}`)
	}
	const diary = "/api/v1/collections/diary"
	for _, r := range []reply{
		s.want(200, "ann", "GET", diary+"/entries", ""), s.want(200, "ann", "GET", diary+"/entry?id=d1", ""), s.want(200, "ann", "POST", diary+"/recall", `{"query":"tea"}`),
	} {
		if text := string(r.body); !strings.Contains(text, "of ann") || strings.Contains(text, "of bob") {
			t.Errorf("ann reads %s", text)
		}
	}
	for _, r := range [][3]string{
		{"GET", "/api/v1/collections/kb/entries", ""}, {"GET", "/api/v1/collections/kb/entry?id=r1", ""}, {"POST", "/api/v1/collections/kb/recall", `{"query":"cup"}`},
		{"POST", diary + "/entries", `{"entries":[{"content":"x"}]}`}, {"POST", diary + "/forget", `{"id":"d1"}`}, {"GET", diary + "/entries?user_id=bob", ""},
		{"GET", "/api/v1/collections", ""},
	} {
		if p := s.problem(403, "ann", r[0], r[1], r[2]); p.Code != "access_denied" {
			t.Errorf("%s %s as a user: %+v", r[0], r[1], p)
		}
	}
}

func TestCollectionFaults(t *testing.T) {
	s := newServiceWith(t, helpdesk, func(*tenants.Options) {})
	many := strings.TrimSuffix(strings.Repeat(`{"content":"x"},`, 101), ",")
	for _, tt := range []struct {
		status                   int
		method, path, body, code string
	}{
		{404, "GET", "/other", "", "not_found"},
		{404, "GET", "/other/entries", "", "not_found"},
		{404, "GET", "/kb/entry?id=missing", "", "not_found"},
		{422, "GET", "/kb/entry", "", "invalid_argument"},
		{400, "GET", "/kb/entries?namespace=a&default_namespace=true", "", "invalid_argument"},
		{400, "GET", "/diary/entry?id=d1", "", "no_user"},
		{422, "POST", "/kb/entries", `{"entries":[]}`, "invalid_argument"},
		{422, "POST", "/kb/entries", `{"entries":[` + many + `]}`, "invalid_argument"},
		{422, "POST", "/kb/entries", `{"entries":[{"id":"a"}]}`, "invalid_argument"},
		{413, "POST", "/kb/entries", `{"entries":[{"content":"` + strings.Repeat("x", 5<<20) + `"}]}`, "too_large"},
		{413, "POST", "/kb/entries", `{"entries":[{"content":"` + strings.Repeat("x", 300<<10) + `"}]}`, "too_large"},
		{422, "POST", "/kb/recall", `{"query":""}`, "invalid_argument"},
		{422, "POST", "/kb/recall", `{"query":"a","limit":10000}`, "invalid_argument"},
		{422, "POST", "/kb/recall", `{"query":"a","threshold":2}`, "invalid_argument"},
		{400, "POST", "/kb/recall", `{"query":"a","filter":{"a":{"like":"b"}}}`, "invalid_argument"},
		{400, "POST", "/kb/forget", `{}`, "invalid_argument"},
		{400, "POST", "/kb/forget", `{"namespace":"fr"}`, "invalid_argument"},
	} {
		if p := s.problem(tt.status, "operator", tt.method, "/api/v1/collections"+tt.path, tt.body); string(p.Code) != tt.code {
			t.Errorf("%s %s: %+v; want %s", tt.method, tt.path, p, tt.code)
		}
	}
	p := s.problem(400, "operator", "POST", "/api/v1/collections/kb/entries", fmt.Sprintf(`{"entries":[%s,{"content":"x","ttl":"soon"}]}`, `{"content":"x"}`))
	if !strings.Contains(p.Detail, "entry 1: ") {
		t.Errorf("a fault of the second entry: %+v", p)
	}
}

func TestImportFile(t *testing.T) {
	s := newServiceWith(t, helpdesk, func(*tenants.Options) {})
	const files = "/api/v1/collections/kb/files"
	upload := func(status int, query, name, content string) reply {
		t.Helper()
		body, mediaType := form(name, "", content)
		return s.want(status, "operator", "POST", files+query, body, "Content-Type", mediaType)
	}
	var done apitypes.ImportedFile
	upload(200, `?source=guides/tea.md&namespace=en&ttl=1d&metadata=%7B%22team%22:1%7D`, "tea.md", "# Tea\n\nGreen tea.\n\n# Coffee\n\nBlack coffee.\n").into(t, &done)
	if want := (apitypes.ImportedFile{Source: "guides/tea.md", Entries: 2}); done != want {
		t.Errorf("the import = %+v; want %+v", done, want)
	}
	upload(200, "", "tea.json", `{"tea":"green"}`).into(t, &done)
	if want := (apitypes.ImportedFile{Source: "tea.json", Entries: 1}); done != want {
		t.Errorf("the import = %+v; want %+v", done, want)
	}
	upload(200, "?source=guides/tea.md&namespace=en", "renamed.txt", "# Tea\n\nGreen tea.\n").into(t, &done)
	if want := (apitypes.ImportedFile{Source: "guides/tea.md", Entries: 1, Removed: 1}); done != want {
		t.Errorf("the second import = %+v; want %+v", done, want)
	}
	var found apitypes.FoundEntries
	s.want(200, "operator", "POST", "/api/v1/collections/kb/recall", `{"query":"tea","namespace":"en"}`).into(t, &found)
	if found.Count != 1 || string(found.Results[0].Metadata) != `{"heading":"Tea","offset":0,"source":"guides/tea.md"}` {
		t.Errorf("the entries = %+v", found.Results)
	}
	for _, tt := range []struct {
		status                     int
		query, name, content, text string
	}{
		{400, "", "tea.html", "<p>tea", "no text can be extracted from files of this format"},
		{400, "", "tea.txt", "", "the file has no text"},
		{400, "", "tea.pdf", "tea", "declared as pdf"},
		{400, "", "tea", "tea", "neither an extension nor a media type"},
		{400, "?metadata=%5B%5D", "tea.txt", "tea", "the metadata is not a JSON object"},
		{400, "?ttl=soon", "tea.txt", "tea", "ttl"},
		{422, "?chunks=2", "tea.txt", "tea", "chunks"},
	} {
		if r := upload(tt.status, tt.query, tt.name, tt.content); !contains(r, tt.text) || !contains(r, "invalid_argument") {
			t.Errorf("%s%s: %s; want %q", tt.name, tt.query, r, tt.text)
		}
	}
	body, mediaType := form("a.txt", "", "tea")
	for user, path := range map[string]string{"operator": "/api/v1/collections/none/files", "ann": files, "runtime": files} {
		if r := s.ask(user, "POST", path, body, "Content-Type", mediaType); r.StatusCode != map[string]int{"operator": 404}[user] && r.StatusCode != 403 {
			t.Errorf("an import by %s to %s = %s", user, path, r)
		}
	}
}

// Without workers for documents, a service imports only files that are already text.
func TestImportFileWithoutParsers(t *testing.T) {
	s := newServiceWith(t, helpdesk, func(*tenants.Options) {}, func(o *httpapi.Options) { o.Documents = nil })
	for name, want := range map[string]int{"a.pdf": 503, "a.txt": 200} {
		body, mediaType := form(name, "", "%PDF-1.4\n")
		s.want(want, "operator", "POST", "/api/v1/collections/kb/files", body, "Content-Type", mediaType)
	}
}
