package host_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/artifact"
)

// exported exports the data of a user and returns the files of the archive, by file name.
func exported(t *testing.T, h *host.Host, user string) map[string]string {
	t.Helper()
	var buf bytes.Buffer
	if err := h.Users().Export(t.Context(), host.Caller{User: user, Actor: "op"}, &buf); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, f := range archive.File {
		from, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		parts[f.Name] = string(text)
	}
	return parts
}

// An export contains all kinds of data of the user, and no data of another user. After an erasure
// the export is empty.
func TestExportUser(t *testing.T) {
	h := openTool(t, `await memory.set_content("notes", {secret: "of-" + context.userId}); return "result-of-" + context.userId`,
		func(o *host.Options) { o.Ledger = time.Hour })
	large := strings.Repeat("0123456789abcdef", 40_000) // more than one chunk
	for _, user := range []string{"ann", "bob"} {
		caller := host.Caller{User: user, Session: "s-" + user, Workflow: "w-" + user}
		if _, err := run(h, host.Invocation{Caller: caller, Key: "k-" + user, Metadata: []byte(`{"of":"` + user + `"}`)}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Artifacts().Add(t.Context(), caller, artifact.Upload{Filename: user + ".txt", Type: "txt", MediaType: "text/plain", Content: []byte(user + large)}); err != nil {
			t.Fatal(err)
		}
	}
	parts := exported(t, h, "ann")
	for name, want := range map[string]string{
		"records.ndjson": `"content":{"secret":"of-ann"}`, "sessions.ndjson": `"metadata":{"of":"ann"}`, "files.ndjson": `"filename":"ann.txt"`,
		"workflows.ndjson": `"workflow_id":"w-ann","user_id":"ann"`,
		"results.ndjson":   `"output":"result-of-ann"`, "ledger.ndjson": `"session_id":"s-ann"`,
	} {
		if !strings.Contains(parts[name], want) {
			t.Errorf("%s = %s; want %s", name, parts[name], want)
		}
	}
	files := 0
	for name, text := range parts {
		if strings.Contains(name+text, "bob") {
			t.Errorf("%s contains data of bob: %.200s", name, text)
		}
		if strings.HasPrefix(name, "files/") && strings.HasSuffix(name, "/ann.txt") && text == "ann"+large {
			files++
		}
	}
	if files != 1 || len(parts) != 8 {
		t.Errorf("%d files in %d parts; want 1 in 8", files, len(parts))
	}
	if _, err := h.Users().Erase(t.Context(), host.Caller{User: "ann"}); err != nil {
		t.Fatal(err)
	}
	for name, text := range exported(t, h, "ann") {
		if text != "" && name != "ledger.ndjson" {
			t.Errorf("after an erasure %s = %s", name, text)
		}
	}
	if err := h.Users().Export(t.Context(), host.Caller{}, io.Discard); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("export of an unknown user: %v", err)
	}
}
