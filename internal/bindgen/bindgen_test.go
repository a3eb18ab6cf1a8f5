package bindgen_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/bindgen"
)

const root = "../.."

// TestGenerated checks that the generated files match the table of operations.
func TestGenerated(t *testing.T) {
	for name, want := range generate(t, abi.Operations()) {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go generate ./internal/bindgen", name)
		}
	}
}

// probe is an operation that exists only in tests. The operation uses every feature of the table.
var probe = abi.Operation{
	Name: "probe_content", Verb: abi.Read,
	Doc: "asks a question about a store, and */ ends no comment",
	Params: []abi.Param{
		{Name: "store", Aliases: []string{"store_name"}, Kind: abi.StoreName, Required: true, Doc: "the name of the store"},
		{Name: "default", Aliases: []string{"fallback"}, Kind: abi.JSON, Required: true, Doc: "the answer if there is none"},
		{Name: "question", Kind: abi.JSON, Type: abi.Type{Shape: abi.Text, Nullable: true}, Doc: "the question"},
		{Name: "options", Kind: abi.JSON, Type: abi.Type{Shape: abi.Object, Name: "ProbeOptions", Fields: []abi.Field{
			{Name: "limit", Type: abi.Type{Shape: abi.Integer}, Doc: "the largest number of answers"},
			{Name: "deep", Type: abi.Type{Shape: abi.Boolean}, Optional: true},
		}}},
	},
	Reply: abi.Type{Shape: abi.Object, Name: "ProbeReply", Doc: "the answers", Fields: []abi.Field{
		{Name: "success", Type: abi.Type{Shape: abi.Success}},
		{Name: "answers", Type: abi.Type{Shape: abi.List, Items: &abi.Type{Shape: abi.Object, Name: "Answer", Fields: []abi.Field{
			{Name: "content", Type: abi.Type{Shape: abi.Content}},
			{Name: "any", Type: abi.Type{}, Optional: true},
		}}}},
	}},
	Variants: []abi.Variant{{Param: "options", Member: "deep", Value: "true", Reply: abi.Type{Shape: abi.Text, Nullable: true}, Doc: "returns one text"}},
}

// withProbe returns the table with two additional operations. The second operation is in the module
// of models, because some files contain the operations of only one module.
func withProbe() abi.Table {
	ask := probe
	ask.Name, ask.Module = abi.ModelModule+"_probe_content", abi.ModelModule
	return append(abi.Operations(), probe, ask)
}

func generate(t *testing.T, table abi.Table) map[string][]byte {
	t.Helper()
	files, err := bindgen.Generate(table, os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestEveryFileHasTheOperation adds an operation to the table. Each generated file must contain the
// new operation and must not lose any other line.
func TestEveryFileHasTheOperation(t *testing.T) {
	before := generate(t, abi.Operations())
	for name, text := range generate(t, withProbe()) {
		if !bytes.Contains(text, []byte("probe_content")) {
			t.Errorf("%s does not have the operation", name)
		}
		for line := range strings.Lines(string(before[name])) {
			if strings.Contains(line, "delete_content") && !bytes.Contains(text, []byte(strings.TrimRight(line, "},\n"))) {
				t.Errorf("%s lacks the line %q", name, line)
			}
		}
	}
}

// TestPage checks that ABI.md contains the signature, the options and the replies of the new
// function.
func TestPage(t *testing.T) {
	page := string(generate(t, withProbe())["abi/ABI.md"])
	for _, want := range []string{
		"| `probe_content` | `(store, store_len, default, default_len, question, question_len, options, options_len) -> i32` |",
		"**default**: the answer if there is none<br>**question**: the question<br>**options**: `limit` (integer): the largest number of answers. `deep` (true or false)",
		"`{\"success\":true,\"answers\"}`: the answers<br>if `options.deep` is `true`: text or `null` |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestRefused checks that a table is rejected if the generated code would be invalid.
func TestRefused(t *testing.T) {
	op := func(change func(*abi.Operation)) abi.Operation {
		changed := probe
		changed.Params = append([]abi.Param(nil), probe.Params...)
		change(&changed)
		return changed
	}
	tests := []struct {
		name, want string
		op         abi.Operation
	}{
		{"a name that is not an identifier", "invalid operation name", op(func(o *abi.Operation) { o.Name = `x"y` })},
		{"a duplicate name", "duplicate operation", op(func(o *abi.Operation) { o.Name = abi.GetContent })},
		{"a parameter that is not an identifier", "invalid parameter name", op(func(o *abi.Operation) { o.Params[1].Name = "a b" })},
		{"a keyword of Python", "invalid parameter name", op(func(o *abi.Operation) { o.Params[1].Name = "from" })},
		{"an alias that is not an identifier", "invalid parameter name", op(func(o *abi.Operation) { o.Params[1].Aliases = []string{"a-b"} })},
		{"a required parameter at the end", "follows an optional one", op(func(o *abi.Operation) { o.Params[3].Required = true })},
		{"too many parameters", "the limit is 8", op(func(o *abi.Operation) { o.Params = append(o.Params, make([]abi.Param, 8)...) })},
		{"another type of the same name", "with different fields", op(func(o *abi.Operation) { o.Reply = abi.Type{Shape: abi.Object, Name: "SetReply"} })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := bindgen.Generate(append(abi.Operations(), tt.op), os.DirFS(root))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Generate = %v; want an error with %q", err, tt.want)
			}
		})
	}
}
