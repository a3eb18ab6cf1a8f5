package httpapi_test

import (
	"context"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/extract"
	"github.com/toolrun/toolrun/host/server/httpapi"
)

// unread is an engine for documents that extracts no text.
type unread struct {
	*extract.Engine
	requested chan struct{}
}

func (u unread) Load(ctx context.Context, source engine.Source) (engine.Program, error) {
	u.requested <- struct{}{}
	return u.Engine.Load(ctx, source)
}

// TestSessionBeforeDocument uploads documents to sessions that reject them. The server must not
// extract text from a document that a session rejects.
func TestSessionBeforeDocument(t *testing.T) {
	requested := make(chan struct{}, 9)
	s := newService(t, func(o *httpapi.Options) { o.Documents = &extract.Reader{Engine: unread{extract.New(), requested}} })
	pdf, kind := form("a.pdf", "application/pdf", "%PDF-1.4\n")
	text, textKind := form("a.txt", "text/plain", "text")
	s.want(201, "runtime", "POST", "/api/v1/sessions", `{"session_id":"anns","user_id":"ann"}`)
	s.want(201, "runtime", "POST", "/api/v1/sessions", `{"session_id":"bobs","user_id":"bob"}`)
	s.want(201, "runtime", "POST", "/api/v1/sessions", `{"session_id":"ended","user_id":"ann"}`)
	s.want(200, "ann", "DELETE", "/api/v1/sessions/ended", "")
	for range 50 {
		s.want(201, "ann", "POST", "/api/v1/sessions/anns/files", text, "Content-Type", textKind)
	}
	for session, code := range map[string]abi.Code{"anns": abi.QuotaExceeded, "bobs": abi.AccessDenied, "ended": abi.SessionEnded} {
		r := s.ask("ann", "POST", "/api/v1/sessions/"+session+"/files", pdf, "Content-Type", kind)
		if r.StatusCode < 400 || !contains(r, string(code)) {
			t.Errorf("an upload to %s = %s; want %s", session, r, code)
		}
	}
	if len(requested) != 0 {
		t.Error("the text of a rejected document was extracted")
	}
}

// TestFilesWithoutText uploads ordinary files that have no readable text. The test also uploads
// files that have unusual encodings.
func TestFilesWithoutText(t *testing.T) {
	s := newService(t)
	s.want(201, "operator", "POST", "/api/v1/sessions", `{"session_id":"s","user_id":"ann"}`)
	for _, c := range []struct {
		name, mediaType, content, want string
	}{
		{"prices.csv", "text/csv", "Name;Preis\r\nM\xFCller;12,50 \x80\r\n", `"text_reason":"unsupported_format"`},
		{"cafe.txt", "text/plain", "caf\xE9", `"has_text":true`},
		{"wide.txt", "text/plain", "w\x00i\x00d\x00e\x00", `"has_text":true`},
		{"empty.txt", "text/plain", "", `"text_reason":"no_text"`},
		{"broken.json", "application/json", "{", `"text_reason":"damaged"`},
		{"broken.pdf", "application/pdf", "%PDF-1.4\n", `"text_reason":"damaged"`},
		{"cat.gif", "image/gif", "GIF89a\x01\x00\x01\x00\x80\x00", `"text_reason":"unsupported_format"`},
	} {
		body, contentType := form(c.name, c.mediaType, c.content)
		r := s.want(201, "ann", "POST", "/api/v1/sessions/s/files", body, "Content-Type", contentType)
		if !contains(r, c.want) || contains(r, `"has_text":true`) == contains(r, `"text_reason"`) {
			t.Errorf("the upload of %s = %s; want %s", c.name, r, c.want)
		}
	}
}
