package extract_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/extract"
)

func TestReadDocument(t *testing.T) {
	readers := map[string]*extract.Reader{"no engine": nil, "an engine": {Engine: extract.New()}}
	for name, r := range readers {
		for _, tt := range []struct {
			file, mediaType, content, want string
			code                           abi.Code
		}{
			{"a.md", "text/markdown", "# Title\n", "# Title\n", ""},
			{"A.MARKDOWN", "", "<b>bold</b>", "<b>bold</b>", ""},
			{"a.md", "application/pdf", "x", "", abi.InvalidArgument},
			{"a.md", "", "%PDF-1.4\x00\x01", "", abi.InvalidArgument},
			{"a.txt", "", "text", "text", ""},
			{"a.json", "application/json", `{"a":1}`, `{"a":1}`, ""},
			{"a.json", "application/json", `{"a":`, "", abi.InvalidArgument},
			{"a.txt", "", "", "", abi.InvalidArgument},
			{"a.html", "", "<p>", "", abi.InvalidArgument},
			{"a.exe", "", "MZ", "", abi.InvalidArgument},
			{"a", "", "text", "", abi.InvalidArgument},
			{"a.txt", "", strings.Repeat("x", extract.MaxBytes+1), "", abi.TooLarge},
			{"long.txt", "", strings.Repeat("word ", extract.TextBytes/4), strings.Repeat("word ", extract.TextBytes/4), ""},
		} {
			got, err := r.ReadDocument(t.Context(), admission.Flow{}, tt.file, tt.mediaType, []byte(tt.content))
			if got.Text != tt.want || (err == nil) != (tt.code == "") || err != nil && !errors.Is(err, tt.code) {
				t.Errorf("%s: ReadDocument(%s, %q) = %.40q, %v; want %.40q, %s", name, tt.file, tt.mediaType, got.Text, err, tt.want, tt.code)
			}
		}
	}
	if _, err := (*extract.Reader)(nil).ReadDocument(t.Context(), admission.Flow{}, "a.pdf", "", []byte("%PDF-1.4\n")); !errors.Is(err, abi.Unavailable) {
		t.Errorf("a PDF without an engine: %v; want unavailable", err)
	}
	long, err := readers["no engine"].ReadDocument(t.Context(), admission.Flow{}, "a.txt", "", []byte(strings.Repeat("x", extract.DocumentTextBytes+1)))
	if err != nil || !long.Truncated || len(long.Text) != extract.DocumentTextBytes {
		t.Errorf("a long text: %d bytes, truncated %t, %v", len(long.Text), long.Truncated, err)
	}
}
