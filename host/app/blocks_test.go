package app_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
)

func TestBlocks(t *testing.T) {
	core := declare.Block{Name: "core", Use: declare.BlockContext, Characters: 4000, Entries: 20}
	archival := declare.Block{Name: "archival", Use: declare.BlockRecall, Characters: 8000}
	for _, test := range []struct {
		name, section string
		want          []declare.Block
	}{
		{"none", "", nil}, {"false", "blocks: false", nil}, {"null", "blocks:", nil},
		{"true", "blocks: true", []declare.Block{core, archival}}, {"empty", "blocks: {}", []declare.Block{core, archival}},
		{"limits", "blocks: {core: {characters: 10}, archival: {entries: 3, description: a}}", []declare.Block{
			{Name: "core", Use: declare.BlockContext, Characters: 10, Entries: 20},
			{Name: "archival", Use: declare.BlockRecall, Characters: 8000, Entries: 3, Description: "a"},
		}},
		{"own blocks", "blocks: {style: {}, past: {use: recall}, tone:, shared: true, language: german}", []declare.Block{
			{Name: "core", Use: declare.BlockContext, Characters: 4000, Entries: 20, Shared: true, Language: "german"},
			{Name: "archival", Use: declare.BlockRecall, Characters: 8000, Shared: true, Language: "german"},
			{Name: "style", Use: declare.BlockContext, Characters: 4000, Entries: 20, Shared: true, Language: "german"},
			{Name: "past", Use: declare.BlockRecall, Characters: 8000, Shared: true, Language: "german"},
			{Name: "tone", Use: declare.BlockContext, Characters: 4000, Entries: 20, Shared: true, Language: "german"},
		}},
	} {
		a := mustLoad(t, "app.yaml", "app: shop\n"+test.section+"\n")
		if diff := cmp.Diff(test.want, a.Blocks); diff != "" {
			t.Errorf("%s: the blocks differ (-want +got):\n%s", test.name, diff)
		}
		text, err := app.Export(a)
		if err != nil {
			t.Fatal(err)
		}
		again, problems := app.Import("shop.json", text)
		if len(problems) > 0 {
			t.Fatalf("%s: Import: %v", test.name, problems)
		}
		if diff := cmp.Diff(a.Blocks, again.Blocks); diff != "" {
			t.Errorf("%s: the blocks of the export differ (-want +got):\n%s", test.name, diff)
		}
		if twice, err := app.Export(again); err != nil || !bytes.Equal(text, twice) {
			t.Errorf("%s: the second export is %s, %v; want the first export, %s", test.name, twice, err, text)
		}
	}
}

// TestManyBlocks checks how many blocks an app can have. The maximum number of stores must not
// include the blocks.
func TestManyBlocks(t *testing.T) {
	file := "app: shop\nmemory:\n"
	for i := range 15 {
		file += fmt.Sprintf("  record%d: {access: user}\n", i)
	}
	file += "blocks:\n"
	for i := range 11 {
		_, problems := app.Load(files("app.yaml", file), "app.yaml")
		if i <= 10 && problems.Err() != nil {
			t.Fatalf("%d blocks: %v", i, problems)
		}
		file += fmt.Sprintf("  text%d: {}\n", i)
	}
	if _, problems := app.Load(files("app.yaml", file), "app.yaml"); problems.Err() == nil || !strings.Contains(problems.Err().Error(), "at most 10 blocks") {
		t.Errorf("11 blocks: %v; want an error", problems)
	}
}
