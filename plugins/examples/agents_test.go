package examples_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolrun/toolrun/internal/cli"
)

// agentApps are the folders of apps with agents. Each folder has its own app file.
var agentApps = []string{"hotel_booking", "wire_transfer"}

// TestAgentScripts runs the script of each app, which contains conversations with its agents.
func TestAgentScripts(t *testing.T) {
	for _, name := range agentApps {
		t.Run(name, func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Files: []string{filepath.Join(name, "script.txtar")},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"toolrun": runInScript, "chat": chatInScript,
				},
				Setup: func(env *testscript.Env) error {
					env.Cd = filepath.Join(env.WorkDir, "app")
					return copyApp(env.Cd, name)
				},
			})
		})
	}
}

// copyApp copies an app without its database, which exists if a reader has tried the commands of its
// README.
func copyApp(dir, name string) error {
	if err := os.CopyFS(dir, os.DirFS(name)); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, ".toolrun"))
}

// chatInScript implements "chat AGENT SESSION USER FILE" for scripts. The lines of the file are the
// messages.
func chatInScript(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 4 {
		ts.Fatalf("usage: chat AGENT SESSION USER FILE")
	}
	exit := cli.Main(context.Background(), cli.Env{
		Args:  []string{"chat", args[0], "--session", args[1], "--user", args[2]},
		Stdin: strings.NewReader(ts.ReadFile(args[3])), Stdout: ts.Stdout(), Stderr: ts.Stderr(),
		Dir: ts.MkAbs("."), CacheDir: cacheDir, Getenv: getenv,
	})
	if failed := exit != 0; failed != neg {
		ts.Fatalf("the chat ended with exit code %d", exit)
	}
}

// TestAgentReadmes runs the commands in the README of each app and compares their output.
func TestAgentReadmes(t *testing.T) {
	for _, name := range agentApps {
		t.Run(name, func(t *testing.T) {
			readme, err := os.ReadFile(filepath.Join(name, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			sessions := consoleSessions(string(readme))
			if len(sessions) == 0 {
				t.Fatal("README.md contains no command")
			}
			dir := t.TempDir()
			if err := copyApp(dir, name); err != nil {
				t.Fatal(err)
			}
			for _, s := range sessions {
				if got := toolrun(t, dir, s.command); got != s.output {
					t.Errorf("$ toolrun %s\nprints:\n%s\nwant, as in the README:\n%s", s.command, got, s.output)
				}
			}
		})
	}
}
