package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/toolrun/toolrun/hostile/corpus"
)

// appFile is the content of the app file. The cases use the stores of the app. The records of the
// app are written once, before the first case runs.
const appFile = `app: hostile
memory:
  own: {description: The caller's own, access: user}
  shared: {description: Everyone's, access: application}
  typed:
    description: Everyone's, of one shape
    access: application
    strict: true
    schema: {type: object, properties: {count: {type: integer}}}
  vault: {description: Not granted to any case, access: application}
tools:
  benign:
    source: benign.js
    description: Returns the content of every store
    grants: {own: read, shared: read, typed: read, vault: read}
`

// benignTool is a tool that reads the records that a case must not change. The tool also detects
// modified global objects of the language.
const benignTool = `const stores = {};
for (const name of ["own", "shared", "typed", "vault"]) stores[name] = await memory.get_content(name);
return { sum: input.a + input.b, clean: {}.polluted === undefined && [].polluted === undefined, stores };
`

// benignWant is the result that benignTool must return after every case.
var benignWant = corpus.Want{Output: []byte(`{"sum":3,"clean":true,"stores":{"own":{"language":"fr"},"shared":{"marker":1},"typed":null,"vault":{"secret":"` + corpus.Secret + `"}}}`)}

// victim is the user whose records must not change. Each case runs on behalf of another user.
const victim = "ann"

// env is a folder with the files that all runs require.
type env struct {
	dir    string
	binary string   // the toolrun program
	self   string   // the path of this program, which is also the baseline host
	flags  []string // arguments that are appended to the arguments of each run
	procs  *processes
	// python is the path of the Python interpreter, or "" if no interpreter exists. pythonStart
	// is the time limit for the start of the interpreter.
	python      string
	pythonStart time.Duration
	// anyAnswer accepts any result that is not an internal fault.
	anyAnswer bool
	// grace is the time for which a run may continue after its deadline. A run that takes longer
	// counts as hung.
	grace time.Duration
}

func newEnv(ctx context.Context, binary, self string) (_ *env, err error) {
	w := &env{binary: binary, self: self, grace: 5 * time.Second, procs: &processes{}}
	if w.dir, err = os.MkdirTemp("", "hostile-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if err := w.procs.adopt(); err != nil {
		return nil, err
	}
	if w.binary == "" {
		w.binary = filepath.Join(w.dir, "toolrun")
		if err := buildToolrun(ctx, w.binary); err != nil {
			return nil, err
		}
	}
	if w.binary, err = filepath.Abs(w.binary); err != nil {
		return nil, err
	}
	return w, w.seed(ctx)
}

// buildToolrun builds toolrun in toolrun's own module, so that the build uses the dependencies of
// that module. The working directory must be in the module of this package.
func buildToolrun(ctx context.Context, to string) error {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/toolrun/toolrun").Output()
	if err != nil {
		return fmt.Errorf("find toolrun's module: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", to, "./cmd/toolrun")
	build.Dir = string(bytes.TrimSpace(dir))
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build toolrun: %w\n%s", err, out)
	}
	return nil
}

// seed writes the declaration of the app, and the database that each worker copies.
func (w *env) seed(ctx context.Context) error {
	for name, text := range map[string]string{"app.yaml": appFile, "benign.js": benignTool} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, record := range []struct{ store, content string }{
		{corpus.Own, `{"language":"fr"}`}, {corpus.Shared, `{"marker":1}`}, {corpus.Vault, `{"secret":"` + corpus.Secret + `"}`},
	} {
		cmd := exec.CommandContext(ctx, w.binary, "memory", "set", record.store, record.content,
			"--app", w.path("app.yaml"), "--db", w.path("seed.db"), "--user", victim)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("write to the store %s: %w\n%s", record.store, err, out)
		}
	}
	return nil
}

func (w *env) path(name string) string { return filepath.Join(w.dir, name) }

// database copies the database for a worker and returns the name of the copy.
func (w *env) database(worker int) (string, error) {
	seed, err := os.ReadFile(w.path("seed.db"))
	if err != nil {
		return "", err
	}
	name := "worker" + strconv.Itoa(worker) + ".db"
	return name, os.WriteFile(w.path(name), seed, 0o600)
}

// benign runs the benign tool on a database. If the result of the tool is wrong, the method returns
// an error.
func (w *env) benign(ctx context.Context, db string) (exit, error) {
	args := append([]string{"run", "benign", "a:=1", "b:=2", "--app", w.path("app.yaml"), "--db", w.path(db), "--user", victim}, w.flags...)
	done, err := w.procs.execute(exec.CommandContext(ctx, w.binary, args...), w.grace)
	switch {
	case err != nil:
		return done, err
	case done.Exit != 0:
		return done, fmt.Errorf("the benign run failed: %s", firstLine(done.stderr))
	case !benignWant.Allows("ok", done.stdout):
		return done, fmt.Errorf("the benign run returned the wrong output %s", bytes.TrimSpace(done.stdout))
	}
	return done, nil
}

func (w *env) close() { _ = os.RemoveAll(w.dir) }

// firstLine returns the first line of text. A long line is truncated so that the line fits into a
// table.
func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	const maxBytes = 160
	return string(line[:min(len(line), maxBytes)])
}
