package corpus

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// The stores of a case. It can read and write the first three. No case can change Shared or Vault:
// a case that succeeds writes only to Own, and a case that fails writes nothing.
const (
	Own    = "own"    // per user, with any content
	Shared = "shared" // shared by all users, with {"marker":1}
	Typed  = "typed"  // shared by all users, strict: {"count": an integer}; empty
	Vault  = "vault"  // exists, but is not granted
)

// The default deadlines: of a case that its deadline must stop, and of a case that must end
// earlier, even on a busy machine.
const (
	ShortTimeout = 500 * time.Millisecond
	LongTimeout  = 15 * time.Second
)

// Case is one attack.
type Case struct {
	// Name is unique: the language or "app", the kind of attack, and a word for the case, such as
	// js/cpu/empty_loop.
	Name string
	// Mechanism describes in a sentence what is attacked.
	Mechanism string
	Want      Want
	// NeedsIsolation is true if no engine can stop the guest: it requires a process that can be
	// killed.
	NeedsIsolation bool
	// Timeout is the deadline of the run.
	Timeout time.Duration
	// Input is the input document; nil for an empty one. It can be invalid JSON.
	Input []byte
	// Files are the files of the case.
	Files []File
	// Tool is the path of the tool in Files or, if App is set, the name of a tool that app.yaml
	// declares.
	Tool string
	App  bool
}

// File is a part of a case. At most one of Data, Link and Pipe is set.
type File struct {
	// Path is relative to the folder of the case, with forward slashes. It can start with
	// "../outside/" for a file that the host must not read.
	Path string
	// Data is the content, in which "{{outside}}" stands for the absolute path of the outside
	// folder.
	Data []byte
	// Link is the target of a symbolic link. Pipe makes a named pipe without a writer.
	Link string
	Pipe bool
}

// Secret is the content of the files outside a case's folder.
const Secret = "secret-of-the-host"

// Want is the expected result of a run.
type Want struct {
	// Codes are the accepted faults; none for a run that must succeed. There are several if the
	// first limit to be reached can vary.
	Codes []abi.Code
	// Output is the output of a successful run; nil for any.
	Output json.RawMessage
	// OrOutput is true if the run can also succeed although there are Codes.
	OrOutput bool
}

// Language returns the first part of the name.
func (c Case) Language() string {
	language, _, _ := strings.Cut(c.Name, "/")
	return language
}

// Kind returns the second part of the name: the kind of attack.
func (c Case) Kind() string {
	_, rest, _ := strings.Cut(c.Name, "/")
	kind, _, _ := strings.Cut(rest, "/")
	return kind
}

// String returns the expected result in the format of a case's header.
func (w Want) String() string {
	var words []string
	for _, code := range w.Codes {
		words = append(words, string(code))
	}
	if len(w.Codes) == 0 || w.OrOutput {
		words = append(words, strings.TrimSpace("output "+string(w.Output)))
	}
	return strings.Join(words, " or ")
}

// parseWant parses the format of String, in any order. An output extends to the end, or to the next
// " or ".
func parseWant(text string) (w Want, err error) {
	for word := range strings.SplitSeq(text, " or ") {
		if output, ok := strings.CutPrefix(word+" ", "output "); ok {
			w.OrOutput = true
			if output != "" {
				w.Output = json.RawMessage(strings.TrimSpace(output))
			}
			continue
		}
		code := abi.Code(word)
		if code.Number() == 0 {
			return w, fmt.Errorf("unknown code %q", word)
		}
		w.Codes = append(w.Codes, code)
	}
	if w.Output != nil && !json.Valid(w.Output) {
		return w, fmt.Errorf("the output %s is not JSON", w.Output)
	}
	w.OrOutput = w.OrOutput && len(w.Codes) > 0
	return w, nil
}

// All returns every case, sorted by name. An error is a mistake in the corpus.
func All() ([]Case, error) {
	textCases, err := textCases()
	if err != nil {
		return nil, err
	}
	all := slices.Concat(textCases, generated())
	slices.SortFunc(all, func(a, b Case) int { return cmp.Compare(a.Name, b.Name) })
	for i := range all {
		if err := all[i].check(); err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].Name, err)
		}
		if i > 0 && all[i].Name == all[i-1].Name {
			return nil, fmt.Errorf("two cases have the name %s", all[i].Name)
		}
	}
	return all, nil
}

func (c *Case) check() error {
	switch {
	case c.Timeout > 0:
	case slices.Contains(c.Want.Codes, abi.Timeout):
		c.Timeout = ShortTimeout
	default:
		c.Timeout = LongTimeout
	}
	switch {
	case strings.Count(c.Name, "/") != 2:
		return fmt.Errorf("the name must have three parts")
	case c.Mechanism == "":
		return fmt.Errorf("the mechanism is missing")
	case c.Tool == "":
		return fmt.Errorf("the tool is missing")
	}
	return nil
}

// Allows reports whether a run can have this result: "ok" with its output, or the code of a fault.
func (w Want) Allows(word string, output json.RawMessage) bool {
	if word != "ok" {
		return slices.Contains(w.Codes, abi.Code(word))
	}
	if len(w.Codes) > 0 && !w.OrOutput {
		return false
	}
	return w.Output == nil || sameJSON(w.Output, output)
}

// sameJSON reports whether two texts contain the same value.
func sameJSON(a, b []byte) bool {
	var left, right any
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return false
	}
	return reflect.DeepEqual(left, right)
}

// Python reports whether the tool is written in Python, whose interpreter is not part of toolrun
// and may be missing.
func (c Case) Python() bool { return path.Ext(c.Entry()) == ".py" }

// Has reports whether the case has a file.
func (c Case) Has(path string) bool {
	return slices.ContainsFunc(c.Files, func(f File) bool { return f.Path == path })
}

// Entry returns the file that a host reads first.
func (c Case) Entry() string {
	for _, name := range []string{"app.yaml", "tool.json", "main.js", "main.ts", "main.py", "main.wasm"} {
		if c.Has(name) {
			return name
		}
	}
	return c.Tool
}
