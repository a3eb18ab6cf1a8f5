package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// reader executes the commands of a page in a folder.
type reader struct {
	t      *testing.T
	page   string
	dir    string
	clone  string // the absolute path of the repository
	port   string // the port that replaces port 8080 of the page
	script strings.Builder
	shown  []command
}

// pageTime is the time limit for the execution of a page.
const pageTime = 3 * time.Minute

// endOfCommand is a line that marks the end of a command's output.
const endOfCommand = "=====end of command====="

// follow executes the blocks of a page and compares their outputs with the page. The parent of the
// page's folder contains a link "toolrun", which leads to the repository, because readers have a
// clone there.
func follow(t *testing.T, page string, bin string, env []string) {
	t.Helper()
	r := &reader{t: t, page: page, dir: filepath.Join(t.TempDir(), "work"), port: freePort(t)}
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	clone, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	r.clone = clone
	if err := os.Symlink(clone, filepath.Join(r.dir, "..", "toolrun")); err != nil {
		t.Fatal(err)
	}
	r.script.WriteString("trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\nexec 2>&1\n")
	for _, s := range readPage(t, page) {
		r.take(s, clone)
	}
	if len(r.shown) > 0 {
		r.compare(r.execute(bin, env))
	}
}

// take adds a step of the page to the script. If the step needs no shell, take checks the step
// immediately.
func (r *reader) take(s step, clone string) {
	r.t.Helper()
	switch {
	case s.mark == "file":
		r.save(s)
	case s.mark == "from":
		r.quote(s, clone)
	case s.mark == "copy":
		fmt.Fprintf(&r.script, "mkdir -p %[2]s && cp -r %[1]s/%[2]s/. %[2]s && rm -rf %[2]s/.toolrun\n", clone, s.argument)
	case s.mark == "run":
		r.add(command{line: s.line, text: s.argument}, true)
	case s.mark == "output":
		r.add(command{s.line, "bash " + filepath.Join(clone, filepath.FromSlash(s.argument)) + " 2>../printed", s.text}, false)
	case s.mark == "not run":
	case s.language == "console" || s.language == "sh":
		for _, c := range s.commands() {
			r.add(c, s.language == "sh")
		}
	case s.language == "json":
		if !json.Valid([]byte(s.text)) {
			r.t.Errorf("%s:%d: the block is not JSON", r.page, s.line)
		}
	case s.language == "" || s.language == "text": // a drawing
	default:
		r.t.Errorf("%s:%d: a block of the language %q is not under test: see the documentation of package docs", r.page, s.line, s.language)
	}
}

// save adds a command to the script. The command writes a file with the text of a block.
func (r *reader) save(s step) {
	name := "'" + s.argument + "'"
	fmt.Fprintf(&r.script, "mkdir -p \"$(dirname %s)\" && cat > %s <<'END OF FILE'\n%sEND OF FILE\n", name, name, r.local(s.text))
}

// quote checks that a file contains the text of the block.
func (r *reader) quote(s step, clone string) {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(clone, filepath.FromSlash(s.argument)))
	if err != nil {
		r.t.Errorf("%s:%d: %v", r.page, s.line, err)
	} else if !strings.Contains("\n"+withoutIndent(string(text)), "\n"+withoutIndent(s.text)) {
		r.t.Errorf("%s:%d: the block is not a part of %s", r.page, s.line, s.argument)
	}
}

// withoutIndent removes the indentation of each line, because pages show code from functions
// without its indentation.
func withoutIndent(text string) string { return indent.ReplaceAllString(text, "") }

var indent = regexp.MustCompile(`(?m)^[ \t]+`)

// add adds a command to the script. If the command must succeed, the script prints its output only
// after a failure.
func (r *reader) add(c command, succeed bool) {
	r.shown = append(r.shown, c)
	line := r.local(c.text)
	if succeed {
		line = "{ " + line + "\n} >../printed 2>&1 || { echo \"failed with exit code $?\"; cat ../printed; }"
	}
	fmt.Fprintf(&r.script, "%s\necho '%s'\n", line, endOfCommand)
}

var (
	serving    = regexp.MustCompile(`\btoolrun serve\b`)
	fromSource = regexp.MustCompile(`\bgo run \./cmd/toolrun\b`)
)

// local changes the text of a command or a file. local replaces the port with the port of this
// test, and it replaces "go run ./cmd/toolrun" with "toolrun".
func (r *reader) local(text string) string {
	text = fromSource.ReplaceAllString(text, "toolrun")
	// The path of the link differs in each test. If the text contained the path of the link, Go
	// would compile the packages of toolrun again for each test.
	text = strings.ReplaceAll(text, "=../toolrun", "="+r.clone)
	if !strings.Contains(text, "--listen") {
		text = serving.ReplaceAllString(text, "toolrun serve --listen 127.0.0.1:8080")
	}
	return strings.ReplaceAll(text, "127.0.0.1:8080", "127.0.0.1:"+r.port)
}

// execute runs the script and returns its output.
func (r *reader) execute(bin string, env []string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), pageTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", r.script.String())
	cmd.Dir = r.dir
	cmd.Env = append(append(os.Environ(), env...), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "TOOLRUN="+filepath.Join(bin, "toolrun"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the processes of the page end when the script ends
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && ctx.Err() != nil {
		r.t.Errorf("%s: the page takes longer than %s", r.page, pageTime)
	}
	return strings.ReplaceAll(out.String(), "127.0.0.1:"+r.port, "127.0.0.1:8080")
}

// compare compares the output of each command with the output that the page shows.
func (r *reader) compare(out string) {
	r.t.Helper()
	outputs := strings.Split(out, endOfCommand+"\n")
	for i, c := range r.shown {
		if i >= len(outputs)-1 {
			r.t.Errorf("%s:%d: $ %s\nended the page; it printed:\n%s", r.page, c.line, c.text, outputs[len(outputs)-1])
			return
		}
		if !matches(outputs[i], c.want) {
			r.t.Errorf("%s:%d: $ %s\nprints:\n%s\nthe page shows:\n%s", r.page, c.line, c.text, normal(outputs[i]), normal(c.want))
		}
	}
}

// matches reports whether the output of a command matches the text on a page. Within a line, "..."
// matches any text. A line that contains only "..." matches any lines.
func matches(got, want string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(normal(want)) {
		if strings.TrimSpace(line) == "..." {
			pattern.WriteString(`(?s:.*)`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), `\.\.\.`, `.*`))
	}
	ok, err := regexp.MatchString(`^`+pattern.String()+`$`, normal(got))
	return err == nil && ok
}

// changing contains patterns for text that differs between executions. The field "stand" is the
// text that replaces such text in comparisons.
var changing = []struct {
	pattern *regexp.Regexp
	stand   string
}{
	{regexp.MustCompile(`\brun_[0-9A-Z]{26}\b`), "run_ID"},
	{regexp.MustCompile(`\bdev_[0-9A-Z]{26}\b`), "dev_KEY"},
	{regexp.MustCompile(`\b(created|revoked)( the key)? [a-z2-7]{10}\b`), "$1$2 KEY"},
	{regexp.MustCompile(`\btrk_[0-9A-Za-z_]{20,}`), "trk_KEY"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?`), "TIME"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?(µs|ms)\b`), "N ms"},
	{regexp.MustCompile(`(?m)^note: getting Python .*\n`), ""},
	{regexp.MustCompile(`(?m)[ \t]+$`), ""},
}

func normal(text string) string {
	for _, c := range changing {
		text = c.pattern.ReplaceAllString(text, c.stand)
	}
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return text + "\n"
}

// freePort returns a port that no process used during the call.
func freePort(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
