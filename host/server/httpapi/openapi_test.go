package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/server/httpapi"
)

var update = flag.Bool("update", false, "write the description of the API anew")

// The variable committed is the copy of the OpenAPI document in docs.
var committed = filepath.Join("..", "..", "..", "docs", "openapi.json")

// description returns the OpenAPI document of a service, but omits the version of the service.
func description(t testing.TB) []byte {
	t.Helper()
	text, err := newService(t, func(o *httpapi.Options) { o.Version, o.Engines = "dev", engines.Infos() }).api.OpenAPI()
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
		t.Error("docs/openapi.json is outdated: run go test ./host/server/httpapi -run OpenAPI -update")
	}
}

// spelledByOthers contains names that other specifications, such as MCP, define.
var spelledByOthers = []string{"inputSchema", "outputSchema"}

var snakeCase = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// Members and parameters have names in snake_case.
func TestNamesAreSnakeCase(t *testing.T) {
	var doc any
	if err := json.Unmarshal(description(t), &doc); err != nil {
		t.Fatal(err)
	}
	names := 0
	eachName(doc, "", func(at, name string) {
		names++
		if !snakeCase.MatchString(name) && !slices.Contains(spelledByOthers, name) {
			t.Errorf("%s: the name %s is not in snake_case", at, name)
		}
	})
	if names < 200 {
		t.Errorf("%d names were found; the test covers too little", names)
	}
}

// eachName calls a function with the name of each member and parameter in a part of the document.
func eachName(part any, at string, call func(at, name string)) {
	switch v := part.(type) {
	case []any:
		for i, item := range v {
			eachName(item, fmt.Sprint(at, "/", i), call)
		}
	case map[string]any:
		if name, ok := v["name"].(string); ok && (v["in"] == "query" || v["in"] == "path") {
			call(at, name)
		}
		properties, _ := v["properties"].(map[string]any)
		for name := range properties {
			call(at, name)
		}
		for name, member := range v {
			if name != "example" && name != "examples" { // examples are data
				eachName(member, at+"/"+name, call)
			}
		}
	}
}

// An independent linter reports neither errors nor warnings for the OpenAPI document.
func TestOpenAPIPassesLinter(t *testing.T) {
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Skip("npm is not installed")
	}
	if os.Getenv("TOOLRUN_OFFLINE") != "" {
		t.Skip("TOOLRUN_OFFLINE is set; npm would fetch the linter")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "openapi.json"), description(t), 0o644); err != nil {
		t.Fatal(err)
	}
	lint := exec.CommandContext(t.Context(), npx, "--yes", "@redocly/cli@2.77.0", "lint", "openapi.json", "--max-problems", "1000")
	lint.Dir = dir
	lint.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	text, err := lint.CombinedOutput()
	if err != nil || !bytes.Contains(text, []byte("Your API description is valid")) {
		t.Errorf("the linter: %v\n%s", err, text)
	}
	if found := regexp.MustCompile(`You have \d+ warning`).Find(text); found != nil {
		t.Errorf("the linter warns:\n%s", text)
	}
}
