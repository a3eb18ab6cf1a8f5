package httpapi_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/toolrun/toolrun/host/httpapi"
)

var update = flag.Bool("update", false, "write the description of the API anew")

// committed is the copy of the description that people read without a service.
var committed = filepath.Join("..", "..", "docs", "openapi.json")

// description is that of a service of no version in particular.
func description(t testing.TB) []byte {
	t.Helper()
	text, err := newService(t, func(o *httpapi.Options) { o.Version = "dev" }).api.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

func TestOpenAPIIsCommitted(t *testing.T) {
	made := description(t)
	if *update {
		if err := os.WriteFile(committed, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made, kept) {
		t.Error("docs/openapi.json is not what the code makes: go test ./host/httpapi -run OpenAPI -update writes it anew")
	}
}

// A linter that others wrote finds neither errors nor warnings.
func TestOpenAPIPassesLinter(t *testing.T) {
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Skip("npm is not installed")
	}
	if os.Getenv("TOOLRUN_OFFLINE") != "" {
		t.Skip("TOOLRUN_OFFLINE is set, and npm fetches the linter")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "openapi.json"), description(t), 0o644); err != nil {
		t.Fatal(err)
	}
	lint := exec.CommandContext(t.Context(), npx, "--yes", "@redocly/cli@2.77.0", "lint", "openapi.json", "--max-problems", "1000")
	lint.Dir = dir
	lint.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	said, err := lint.CombinedOutput()
	if err != nil || !bytes.Contains(said, []byte("Your API description is valid")) {
		t.Errorf("the linter: %v\n%s", err, said)
	}
	if found := regexp.MustCompile(`You have \d+ warning`).Find(said); found != nil {
		t.Errorf("the linter warns:\n%s", said)
	}
}
