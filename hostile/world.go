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

// The app whose stores the cases find. Its records are made once, before any of them runs.
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
    description: Tells what every store holds
    grants: {own: read, shared: read, typed: read, vault: read}
`

// benignTool looks at all that a case must leave alone, and at what an earlier run could have left in the language.
const benignTool = `const stores = {};
for (const name of ["own", "shared", "typed", "vault"]) stores[name] = await memory.get_content(name);
return { sum: input.a + input.b, clean: {}.polluted === undefined && [].polluted === undefined, stores };
`

// benignWant is what it must answer, after whatever case.
var benignWant = corpus.Want{Output: []byte(`{"sum":3,"clean":true,"stores":{"own":{"language":"fr"},"shared":{"marker":1},"typed":null,"vault":{"secret":"` + corpus.Secret + `"}}}`)}

// victim is the user whose records must stay as they are. Each case runs for a user of its own.
const victim = "ann"

// world is a folder with all that runs need.
type world struct {
	dir    string
	binary string   // toolrun
	self   string   // this program, which is the naive host too
	flags  []string // added to every run
	procs  *processes
	// python is the file of the interpreter for tools in Python, "" where there is none. pythonStart is how long it may
	// take to start.
	python      string
	pythonStart time.Duration
	// anyAnswer is set where a case may be answered by whatever there is, as long as toolrun lives to tell it.
	anyAnswer bool
	// patience is how long a run may go on after its deadline before it counts as hung.
	patience time.Duration
}

func newWorld(ctx context.Context, binary, self string) (_ *world, err error) {
	w := &world{binary: binary, self: self, patience: 5 * time.Second, procs: &processes{}}
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

// buildToolrun builds toolrun in its own module, with the dependencies that it has there. The working directory is within the
// module of this package.
func buildToolrun(ctx context.Context, to string) error {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/toolrun/toolrun").Output()
	if err != nil {
		return fmt.Errorf("find the module of toolrun: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", to, "./cmd/toolrun")
	build.Dir = string(bytes.TrimSpace(dir))
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build toolrun: %w\n%s", err, out)
	}
	return nil
}

// seed writes the app and the database that each worker gets a copy of.
func (w *world) seed(ctx context.Context) error {
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
			return fmt.Errorf("write the store %s: %w\n%s", record.store, err, out)
		}
	}
	return nil
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// database makes a copy of the records for a worker and returns its name.
func (w *world) database(worker int) (string, error) {
	seed, err := os.ReadFile(w.path("seed.db"))
	if err != nil {
		return "", err
	}
	name := "worker" + strconv.Itoa(worker) + ".db"
	return name, os.WriteFile(w.path(name), seed, 0o600)
}

// benign runs the benign tool on a database and says what is wrong with its answer.
func (w *world) benign(ctx context.Context, db string) (ended, error) {
	args := append([]string{"run", "benign", "a:=1", "b:=2", "--app", w.path("app.yaml"), "--db", w.path(db), "--user", victim}, w.flags...)
	done, err := w.procs.execute(exec.CommandContext(ctx, w.binary, args...), w.patience)
	switch {
	case err != nil:
		return done, err
	case done.Exit != 0:
		return done, fmt.Errorf("the benign run failed: %s", firstLine(done.stderr))
	case !benignWant.Allows("ok", done.stdout):
		return done, fmt.Errorf("the benign run answered %s", bytes.TrimSpace(done.stdout))
	}
	return done, nil
}

func (w *world) close() { _ = os.RemoveAll(w.dir) }

// firstLine is what a process said that ended badly, cut to what fits a table.
func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	const most = 160
	return string(line[:min(len(line), most)])
}
