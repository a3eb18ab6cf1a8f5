package schema_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

var update = flag.Bool("update", false, "rewrite the baseline of the test suite")

// suites lists modules that contain a copy of the public JSON Schema test suite, with the drafts
// that this test uses from each module.
var suites = []struct {
	module, dir string
	drafts      map[string]string // folder -> $schema
}{
	{"github.com/google/jsonschema-go@v0.4.3", "jsonschema/testdata", map[string]string{
		"draft2020-12": "https://json-schema.org/draft/2020-12/schema",
		"draft7":       "http://json-schema.org/draft-07/schema#",
	}},
	{"github.com/qri-io/jsonschema@v0.2.1", "testdata", map[string]string{
		"draft2019-09":           "https://json-schema.org/draft/2019-09/schema",
		"draft2019-09/optional":  "https://json-schema.org/draft/2019-09/schema",
		"draft7/optional":        "http://json-schema.org/draft-07/schema#",
		"draft6":                 "http://json-schema.org/draft-06/schema#",
		"draft6/optional":        "http://json-schema.org/draft-06/schema#",
		"draft4":                 "http://json-schema.org/draft-04/schema#",
		"draft4/optional":        "http://json-schema.org/draft-04/schema#",
		"draft7/optional/format": "http://json-schema.org/draft-07/schema#",
	}},
}

const baselineFile = "testdata/baseline.txt"

// TestSuite runs the public test suite. Known differences are in the baseline. The test fails if
// the baseline lacks a difference, or lists a difference that does not exist. The lines of the
// baseline have the following form:
//
//	refused DRAFT/FILE: GROUP: WHY       the schema is rejected
//	beyond  DRAFT/FILE: GROUP            the schema is accepted, but not by the library
//	number  DRAFT/FILE: GROUP: CASE      the document has a number that package strictjson rejects
//	library DRAFT/FILE: GROUP: CASE      the library has another result
//	suite   DRAFT/FILE: GROUP: CASE      the suite expects another result
//	strict  DRAFT/FILE: GROUP: CASE      the second implementation of strict has another result
func TestSuite(t *testing.T) {
	run := &suiteRun{}
	for _, suite := range suites {
		root := moduleDir(t, suite.module)
		for _, folder := range slices.Sorted(mapKeys(suite.drafts)) {
			files, err := filepath.Glob(filepath.Join(root, suite.dir, folder, "*.json"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%s holds no cases in %s: %v", suite.module, folder, err)
			}
			for _, file := range files {
				run.file(t, folder+"/"+strings.TrimSuffix(filepath.Base(file), ".json"), file, suite.drafts[folder])
			}
		}
	}
	t.Logf("%d cases of %d schemas", run.cases, run.schemas)
	if run.cases < 3000 {
		t.Errorf("the suite has %d cases; want over 3000", run.cases)
	}
	compareBaseline(t, run.lines)
}

type suiteRun struct {
	lines          []string
	cases, schemas int
}

type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

func (r *suiteRun) file(t *testing.T, name, path, draft string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var groups []suiteGroup
	if err := json.Unmarshal(text, &groups); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, group := range groups {
		r.schemas++
		r.group(t, fmt.Sprintf("%s: %s", name, group.Description), group, withDraft(t, group.Schema, draft))
	}
}

func (r *suiteRun) group(t *testing.T, name string, group suiteGroup, text []byte) {
	t.Helper()
	r.cases += len(group.Tests)
	loose, err := schema.Compile(text, schema.Options{})
	if err != nil {
		first, _ := errors.AsType[*schema.Error](err)
		r.lines = append(r.lines, fmt.Sprintf("refused %s: %s", name, first.Message))
		return
	}
	strict, err := schema.Compile(text, schema.Options{Strict: true})
	if err != nil {
		t.Errorf("%s: compiles, but not strictly: %v", name, err)
		return
	}
	raw, err := rawSchema(text)
	if err != nil {
		r.lines = append(r.lines, "beyond  "+name)
	}
	for _, test := range group.Tests {
		doc, err := strictjson.Decode(test.Data, strictjson.Limits{})
		if err != nil {
			r.lines = append(r.lines, fmt.Sprintf("number  %s: %s", name, test.Description))
			continue
		}
		got := len(loose.Validate(doc)) == 0
		note := func(kind string, differs bool) {
			if differs {
				r.lines = append(r.lines, fmt.Sprintf("%s %s: %s", kind, name, test.Description))
			}
		}
		note("suite", got != test.Valid)
		if raw == nil {
			continue
		}
		accepted := rawAccepts(raw, doc)
		note("library", got != accepted)
		note("strict", (len(strict.Validate(doc)) == 0) != (accepted && knowsAllNames(raw, doc)))
	}
}

// withDraft adds $schema to a schema that has no $schema. In the suite, the folder of a schema
// implies its draft.
func withDraft(t *testing.T, text []byte, draft string) []byte {
	t.Helper()
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil || object == nil || object["$schema"] != nil {
		return text
	}
	object["$schema"], _ = json.Marshal(draft)
	named, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return named
}

// rawSchema compiles a schema with the library, without this package's checks.
func rawSchema(text []byte) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	c.LoadURL = func(string) (io.ReadCloser, error) { return nil, errors.New("no other documents") }
	if err := c.AddResource("mem:///raw", strings.NewReader(string(text))); err != nil {
		return nil, err
	}
	return c.Compile("mem:///raw")
}

func rawAccepts(s *jsonschema.Schema, doc any) bool { return s.Validate(doc) == nil }

// moduleDir downloads a module and returns its folder. moduleDir skips the test if the module
// cannot be downloaded.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", module)
	out, err := cmd.Output()
	var answer struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &answer); jsonErr != nil || answer.Dir == "" {
		t.Skipf("cannot download %s: %v %s", module, err, answer.Error)
	}
	return answer.Dir
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// compareBaseline checks that the differences equal the baseline.
func compareBaseline(t *testing.T, got []string) {
	t.Helper()
	slices.Sort(got)
	if *update {
		if err := os.WriteFile(baselineFile, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(baselineFile)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("unexpected: %s", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("in %s, but no longer different: %s", baselineFile, line)
		}
	}
}
