package httpapi_test

import (
	"bytes"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/server/tenants"
)

// seedMessage returns the request on the vendor's documentation page.
func seedMessage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "seeds", "004_agentic_apps_memory_stores.txt"))
	if err != nil {
		t.Skip("the documentation page with the samples is not next to the project")
	}
	_, section, _ := strings.Cut(string(page), "### Passing Metadata via API")
	_, block, found := strings.Cut(section, "```json")
	if !found {
		t.Fatal("the page shows no request")
	}
	_, block, _ = strings.Cut(block, "\n") // skip the line with the language
	block, _, _ = strings.Cut(block, "```")
	return block
}

// TestSeedMessage sends the documented request unchanged. TestSeedMessage then changes the
// metadata.
func TestSeedMessage(t *testing.T) {
	s := serving(t, "app: shop\ntools:\n  greet: "+greetTool+"\n")
	if r := s.want(200, "runtime", "POST", "/api/v1/runs", seedMessage(t)); !contains(r, `"output":{"said":"Hello","name":"John"}`) {
		t.Errorf("the run = %s; want the message and the name", r)
	}
	const path = "/api/v1/sessions/sess_123"
	if r := s.want(200, "runtime", "GET", path, ""); !contains(r, `"metadata":{"channel":"mobile_app","customerTier":"premium","userId":"user_456","userName":"John"}`) || contains(r, `"user_id"`) {
		t.Errorf("the session = %s; want its metadata, and no user from the metadata", r)
	}
	s.want(200, "runtime", "PATCH", path+"/metadata", `{"userName":"Jo","channel":null}`, "Content-Type", "application/merge-patch+json")
	if r := s.want(200, "runtime", "POST", "/api/v1/runs", `{"message":"Again","session_id":"sess_123"}`); !contains(r, `"output":{"said":"Again","name":"Jo"}`) {
		t.Errorf("the run after the change = %s; want the new name", r)
	}
}

// TestSeedExport exports a store that has a record. The export contains the store's schema, access
// and retention, but no content.
func TestSeedExport(t *testing.T) {
	s := newService(t)
	s.want(200, "operator", "PUT", "/api/v1/stores/prefs/record?user_id=ann", `{"language":"secret-content"}`)
	s.want(200, "operator", "PUT", "/api/v1/stores/flags/record", `{"key":"secret-content"}`)
	s.want(201, "runtime", "POST", "/api/v1/sessions", `{"session_id":"s","user_id":"ann","metadata":{"a":"secret-content"}}`)
	r := s.want(200, "operator", "GET", "/api/v1/export", "")
	var exported struct {
		Memory map[string]struct {
			Access, Retention string
			Strict            bool
			Schema            struct{ Properties map[string]any }
		}
	}
	r.into(t, &exported)
	prefs := exported.Memory["prefs"]
	if len(exported.Memory) != 4 || prefs.Access != "user" || prefs.Retention != "1_month" || !prefs.Strict || prefs.Schema.Properties["language"] == nil {
		t.Errorf("the export = %s; want the four stores with schema, access and retention", r)
	}
	if contains(r, "secret-content") || contains(r, `"ann"`) {
		t.Errorf("the export has content: %s", r)
	}
}

// TestSeedFileTypes uploads a file of each documented type. Text is extracted from four of the
// files, and each file has a URL that is valid for 30 days.
func TestSeedFileTypes(t *testing.T) {
	var past atomic.Int64
	clock := func() time.Time { return time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(past.Load())) }
	links, err := httpapi.NewLinks(bytes.Repeat([]byte("k"), 32), "http://files.example", clock)
	if err != nil {
		t.Fatal(err)
	}
	s := newServiceOf(t, func(o *tenants.Options) { o.FileURL, o.Host.Now = links.Make, clock }, func(o *httpapi.Options) { o.Links = links })
	s.want(201, "operator", "POST", "/api/v1/sessions", `{"session_id":"s","user_id":"ann"}`)
	get := func(address string) reply {
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		s.api.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", at.RequestURI(), nil))
		return reply{w.Result(), w.Body.Bytes()}
	}
	files, err := filepath.Glob("../../../docs/tour/files/*")
	if err != nil || len(files) != 13 {
		t.Fatalf("the files of the tour are %v, %v; want 13", files, err)
	}
	addresses := map[string]string{}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		body, contentType := form(filepath.Base(name), "", string(content))
		var f apitypes.File
		s.want(201, "ann", "POST", "/api/v1/sessions/s/files", body, "Content-Type", contentType).into(t, &f)
		extracts := slices.Contains([]string{".pdf", ".docx", ".txt", ".json"}, filepath.Ext(name))
		if f.HasText != extracts {
			t.Errorf("%s: has_text is %t; want %t", name, f.HasText, extracts)
		}
		if r := get(f.URL); r.StatusCode != 200 || !bytes.Equal(r.body, content) {
			t.Errorf("%s: its URL returns %s with %d bytes; want the %d of the file", name, r.Status, len(r.body), len(content))
		}
		addresses[name] = f.URL
	}
	for _, tt := range []struct {
		past   time.Duration
		status int
	}{{30*24*time.Hour - time.Second, 200}, {30 * 24 * time.Hour, 404}} {
		past.Store(int64(tt.past))
		for name, address := range addresses {
			if r := get(address); r.StatusCode != tt.status {
				t.Errorf("%s: after %s its URL returns %s; want %d", name, tt.past, r.Status, tt.status)
			}
		}
	}
}
