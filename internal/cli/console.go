package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/toolrun/toolrun/host/problem"
)

// console writes to the standard streams of a command. Only one goroutine may use a console at a
// time.
type console struct {
	env  Env
	json bool // true if the flag --json is set; results are then printed as JSON documents
	// answered is true if the command has written a JSON document to stdout. A command writes at
	// most one JSON document.
	answered bool
	// showing is true if progress is displayed.
	showing atomic.Bool
	// failedRun is the id of the failed run, or "" if the ledger has no entry for the run.
	failedRun string
}

// style is a terminal escape sequence that sets the style of a word.
type style string

const (
	plain  style = ""
	red    style = "\x1b[1;31m"
	yellow style = "\x1b[1;33m"
	green  style = "\x1b[32m"
	dim    style = "\x1b[2m"
	reset        = "\x1b[0m"
)

func (c *console) paint(terminal bool, s style, text string) string {
	if s == plain || !c.env.color(terminal) {
		return text
	}
	return string(s) + text + reset
}

// note writes a styled word and a text to stderr. All lines except the first line are indented, so
// that logs and errors of a guest cannot imitate messages of toolrun.
func (c *console) note(s style, word, text string) {
	text = strings.ReplaceAll(printable(text), "\n", "\n    ")
	fmt.Fprintln(c.env.Stderr, c.paint(c.env.StderrTerminal, s, word)+text)
}

// warn writes a warning.
func (c *console) warn(format string, args ...any) {
	c.note(yellow, "warning: ", fmt.Sprintf(format, args...))
}

// say writes a line of text to stdout.
func (c *console) say(format string, args ...any) error {
	_, err := fmt.Fprintln(c.env.Stdout, printable(fmt.Sprintf(format, args...)))
	return err
}

// answer prints v as JSON if the flag --json is set. Otherwise, answer calls the function "text",
// which prints the result as text.
func (c *console) answer(v any, text func() error) error {
	if c.json {
		return c.printJSON(v)
	}
	return text()
}

// printJSON prints v as JSON to stdout. If stdout is a terminal, the JSON is indented. If stdout is
// not a terminal, the JSON is on one line.
func (c *console) printJSON(v any) error {
	c.answered = true
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if c.env.StdoutTerminal {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	text := b.String()
	if c.env.StdoutTerminal {
		text = printable(text)
	}
	_, err := io.WriteString(c.env.Stdout, text)
	return err
}

// table prints a header and rows to stdout. The columns are aligned.
func (c *console) table(head []string, rows [][]string) error {
	w := tabwriter.NewWriter(c.env.Stdout, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		fields := make([]string, len(row))
		for i, field := range row {
			fields[i] = strings.ReplaceAll(printable(field), "\n", " ")
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(fields, "\t"), "\t"))
	}
	return w.Flush()
}

// printProblems prints each problem in the form "file:line:column: message", and then prints the
// hint of the problem.
func (c *console) printProblems(to io.Writer, terminal bool, problems problem.List) {
	for _, mistake := range problems {
		s, word := red, "error: "
		if mistake.Severity == problem.Warning {
			s, word = yellow, "warning: "
		}
		at := mistake.File
		if mistake.Line > 0 {
			at = fmt.Sprintf("%s:%d:%d", mistake.File, mistake.Line, mistake.Column)
		}
		fmt.Fprintf(to, "%s: %s%s\n", printable(at), c.paint(terminal, s, word), printable(mistake.Message))
		if mistake.Hint != "" {
			fmt.Fprintf(to, "%s%s\n", c.paint(terminal, dim, "  hint: "), printable(mistake.Hint))
		}
	}
}

// printable replaces all control characters except line breaks and tabs, so that texts from guests
// and files cannot control the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// The function "when" formats a time for a table. If the time is nil, the result is "".
func when(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// logger returns a logger for the host. The logger writes to stderr. The log may contain details
// that a guest must not see.
func (c *console) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(c.env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// warningLogger returns a logger for the host. The logger prints a warning of the host like a warning
// of the command. All other log lines are the same as those of logger.
func (c *console) warningLogger() *slog.Logger {
	return slog.New(warningHandler{c.logger().Handler(), c})
}

// warningHandler prints log lines with the level Warn as warnings of a command.
type warningHandler struct {
	slog.Handler
	out *console
}

// Handle prints a log line.
func (h warningHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level != slog.LevelWarn {
		return h.Handler.Handle(ctx, r)
	}
	var attrs []string
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a.Key+": "+a.Value.String())
		return true
	})
	text := r.Message
	if len(attrs) > 0 {
		text += " (" + strings.Join(attrs, ", ") + ")"
	}
	h.out.warn("%s", text)
	return nil
}

// writeText prints text and a line break to stdout. If stdout is a terminal, writeText replaces
// control characters in the text.
func (c *console) writeText(text string) error {
	if c.env.StdoutTerminal {
		text = printable(text)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(c.env.Stdout, text)
	return err
}
