package examples_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/cli"
)

// TestReadmes runs the commands in each README in order, in a new copy of the examples. TestReadmes
// compares the output with the README.
func TestReadmes(t *testing.T) {
	for _, tool := range tools(t) {
		t.Run(tool, func(t *testing.T) {
			readme, err := os.ReadFile(filepath.Join(tool, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			sessions := consoleSessions(string(readme))
			if len(sessions) == 0 {
				t.Fatal("README.md contains no command")
			}
			dir := copyExamples(t, tool)
			for _, s := range sessions {
				if got := toolrun(t, dir, s.command); got != s.output {
					t.Errorf("$ toolrun %s\nprints:\n%s\nwant, as in the README:\n%s", s.command, got, s.output)
				}
			}
		})
	}
}

// compiling matches the note that the first Python run on a machine prints.
var compiling = regexp.MustCompile(`(?m)^note: getting Python .*\n`)

// runID matches the id of a run, which differs between runs.
var runID = regexp.MustCompile(`\brun_[0-9A-Z]+`)

// toolrun runs a command line and returns its output, with "run_..." in place of run ids.
func toolrun(t *testing.T, dir, line string) string {
	t.Helper()
	var out bytes.Buffer
	cli.Main(context.Background(), cli.Env{Args: words(line), Stdout: &out, Stderr: &out, Dir: dir, CacheDir: cacheDir, Getenv: getenv})
	return runID.ReplaceAllString(compiling.ReplaceAllString(out.String(), ""), "run_...")
}

// words splits a command line like a shell that supports only single quotes.
func words(line string) []string {
	var args []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			args = append(args, part)
			continue
		}
		args = append(args, strings.Fields(part)...)
	}
	return args
}

// session is a command without the word toolrun, and the output of the command.
type session struct{ command, output string }

// consoleSessions returns the commands in the console blocks of a README.
func consoleSessions(readme string) []session {
	var found []session
	for i, block := range strings.Split(readme, "```") {
		body, ok := strings.CutPrefix(block, "console\n")
		if i%2 == 0 || !ok {
			continue
		}
		for line := range strings.Lines(body) {
			if command, ok := strings.CutPrefix(line, "$ toolrun "); ok {
				found = append(found, session{command: strings.TrimSpace(command)})
			} else if len(found) > 0 {
				found[len(found)-1].output += line
			}
		}
	}
	return found
}
