package app_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/problem"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata")

// Each archive contains the files in an app's folder. The last file of the archive lists the
// problems that Load must find, and the declarations that are usable.
func TestProblems(t *testing.T) {
	archives, err := filepath.Glob("testdata/problems/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(filepath.Base(name), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			last := len(archive.Files) - 1
			if last < 1 || archive.Files[last].Name != "problems" {
				t.Fatal(`the last part is not "problems"`)
			}
			got := report(app.Load(folder(archive.Files[:last]), "app.yaml"))
			if *update {
				archive.Files[last].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(archive.Files[last].Data), got); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
		})
	}
}

func folder(files []txtar.File) fs.FS {
	fsys := fstest.MapFS{}
	for _, f := range files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
	}
	return fsys
}

// report formats the problems of an app, and the declarations that are usable. The test compares
// this text with the golden file.
func report(a *app.App, problems problem.List) string {
	text := ""
	for _, p := range problems {
		if p.Code == problem.BadSchema { // package schema tests the message
			p.Message, p.Hint = "…", ""
		}
		text += p.String() + "\n  [" + string(p.Code)
		if p.Tool != "" {
			text += ", tool " + p.Tool
		}
		if p.Prompt != "" {
			text += ", prompt " + p.Prompt
		}
		text += "]\n"
	}
	if a == nil {
		return text + "no app\n"
	}
	text += "app " + a.ID + "\n"
	for _, tool := range a.Tools {
		text += "tool " + tool.Name + state(tool.Broken)
	}
	for _, prompt := range a.Prompts {
		text += "prompt " + prompt.Name + state(prompt.Broken)
	}
	return text
}

func state(broken problem.List) string {
	if len(broken) > 0 {
		return " broken\n"
	}
	return " ok\n"
}
