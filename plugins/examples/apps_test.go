package examples_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/internal/cli"
)

// apps are the folders of apps that have their own app file.
var apps = []string{"hotel_booking", "wire_transfer", "knowledge_base", "support_agent"}

// TestAppScripts runs the script of each app. If the app has a models.yaml, the test replaces the
// model provider with a test server that uses the same protocol.
func TestAppScripts(t *testing.T) {
	for _, name := range apps {
		t.Run(name, func(t *testing.T) {
			if isPython(name) {
				needRuntime(t)
			}
			testscript.Run(t, testscript.Params{
				Files: []string{filepath.Join(name, "script.txtar")},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"toolrun": runInScript, "chat": chatInScript, "reply": reply, "request": request,
				},
				Setup: func(env *testscript.Env) error {
					env.Cd = filepath.Join(env.WorkDir, "app")
					return errors.Join(copyApp(env.Cd, name), startModel(env))
				},
			})
		})
	}
}

// copyApp copies an app without its database, which exists if a reader has tried the commands of
// its README.
func copyApp(dir, name string) error {
	if err := os.CopyFS(dir, os.DirFS(name)); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, ".toolrun"))
}

// provider is the address of the provider in each models.yaml of the examples.
const provider = "http://127.0.0.1:11434/v1"

// serverKey is the key of the server in the values of a script.
type serverKey struct{}

// startModel starts a server for the models of an app, and replaces the provider in its
// models.yaml.
func startModel(env *testscript.Env) error {
	file := filepath.Join(env.Cd, "models.yaml")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	server := modeltest.Start()
	env.Defer(server.Close)
	env.Values[serverKey{}] = server
	return os.WriteFile(file, []byte(strings.ReplaceAll(string(text), provider, server.URL())), 0o600)
}

// reply implements "reply TEXT" for scripts: the server of the models answers the next request with
// the given text.
func reply(ts *testscript.TestScript, _ bool, args []string) {
	ts.Value(serverKey{}).(*modeltest.Server).Script(modeltest.Reply{Text: strings.Join(args, " ")})
}

// request implements "request N" for scripts. The command prints the body of the last request to
// the server of the models, and checks that the server has received N requests.
func request(ts *testscript.TestScript, _ bool, args []string) {
	all := ts.Value(serverKey{}).(*modeltest.Server).Requests()
	if len(args) != 1 || args[0] != strconv.Itoa(len(all)) {
		ts.Fatalf("the server has received %d requests; want %s", len(all), strings.Join(args, " "))
	}
	_, _ = ts.Stdout().Write(append(all[len(all)-1].Body, '\n'))
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

// TestAppReadmes runs the commands in the README of each app and compares their output.
func TestAppReadmes(t *testing.T) {
	for _, name := range apps {
		t.Run(name, func(t *testing.T) {
			if isPython(name) {
				needRuntime(t)
			}
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
