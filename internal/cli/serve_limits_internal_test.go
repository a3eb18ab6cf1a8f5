package cli

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"regexp"
	"runtime"
	"testing"

	"github.com/toolrun/toolrun/host/admission"
)

// TestEffectiveLimits checks the limits that a service with default flags logs. With 2 processors,
// the logged limits must be equal to the limits in docs/reference/serve.md.
func TestEffectiveLimits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	gate, err := admission.New(admission.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	(&server{gate: gate, logger: slog.New(slog.NewJSONHandler(&log, nil))}).logLimits()
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/reference/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ attr, flag, n string }{
		{"running", "running", "4"}, {"per_tenant", "per-tenant", "3"}, {"per_app", "per-app", "2"}, {"per_user", "per-user", "1"},
	} {
		if got, _ := json.Marshal(line[want.attr]); string(got) != want.n {
			t.Errorf("the log has %s %s; want %s", want.attr, got, want.n)
		}
		if !regexp.MustCompile("`--" + want.flag + "`.*\\| " + want.n + " \\|\n").Match(page) {
			t.Errorf("docs/reference/serve.md does not have %s for --%s on 2 processors", want.n, want.flag)
		}
	}
}
