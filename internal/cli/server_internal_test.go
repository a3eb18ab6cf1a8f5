package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// TestOpenRemoteWarns checks that a warning is printed if a key would be sent unencrypted over a
// network.
func TestOpenRemoteWarns(t *testing.T) {
	for url, warned := range map[string]bool{
		"https://tools.example":    false,
		"http://tools.example":     true,
		"http://192.0.2.7:8080":    true,
		"http://127.0.0.1:8080":    false,
		"http://[::1]:8080/below/": false,
		"http://localhost":         false,
	} {
		var stderr bytes.Buffer
		b := newBase(Env{Stderr: &stderr, Getenv: func(string) string { return "s3cret" }})
		if _, err := b.apps.client(&serverFlags{url: url}, ""); err != nil {
			t.Errorf("openRemote(%s): %v", url, err)
		}
		if got := strings.Contains(stderr.String(), "unencrypted"); got != warned || strings.Contains(stderr.String(), "s3cret") {
			t.Errorf("openRemote(%s) wrote %q; want a warning: %v", url, stderr.String(), warned)
		}
	}
}

// TestSentFault checks that the locations in a fault refer to the source file. The path of the
// source file must have the form that the user wrote.
func TestSentFault(t *testing.T) {
	f := &abi.Fault{Code: abi.ToolError, File: "code.py", Line: 3, Stack: "at f (code.py:3:1)\nat other.py:1:2"}
	got := sentFault(t.Context(), nil, f, host.Invocation{}, "./draft.py")
	if got.File != "./draft.py" || got.Stack != "at f (./draft.py:3:1)\nat other.py:1:2" || f.File != "code.py" {
		t.Errorf("sentFault = %+v", got)
	}
}
