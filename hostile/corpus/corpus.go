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

// The stores that a case finds. It may read and write the first two. No case may change Shared or Vault: one that
// succeeds writes to Own alone, and one that fails has written nothing.
const (
	Own    = "own"    // the caller's own, of any content
	Shared = "shared" // everyone's, with {"marker":1}
	Typed  = "typed"  // everyone's, strict: {"count": an integer}; empty
	Vault  = "vault"  // exists, and is not granted
)

// The deadlines of cases that do not say: of one that is to be stopped by it, and of one that must end before, however
// busy the machine is.
const (
	ShortTimeout = 500 * time.Millisecond
	LongTimeout  = 15 * time.Second
)

// Case is one attack.
type Case struct {
	// Name is unique: the language or "app", the kind of attack, and a word for this one, such as js/cpu/empty_loop.
	Name string
	// Mechanism says what is attacked, in a sentence.
	Mechanism string
	Want      Want
	// Wall is set where nothing inside the engine stops the guest: it takes a process that can be killed.
	Wall bool
	// Timeout is the deadline of the run.
	Timeout time.Duration
	// Input is the input document, nil for an empty one. It need not be JSON.
	Input []byte
	// Files are what the case consists of.
	Files []File
	// Tool is the path of the tool among Files, or where App is set, the name of a tool that app.yaml declares.
	Tool string
	App  bool
}

// File is a part of a case. At most one of Data, Link and Pipe is set.
type File struct {
	// Path is within the folder of the case, with forward slashes; it may begin with "../outside/" for a file that
	// the host must not read.
	Path string
	// Data is the content, in which "{{outside}}" stands for the absolute path of the folder outside.
	Data []byte
	// Link makes a symbolic link to a path, Pipe a named pipe that nobody writes to.
	Link string
	Pipe bool
}

// Secret is what the files outside of a case's folder hold.
const Secret = "secret-of-the-host"

// Want is what a run must answer.
type Want struct {
	// Codes are the faults that are right; none for a run that must succeed. More than one is where the outcome hangs
	// on which limit is reached first.
	Codes []abi.Code
	// Output is the output of a run that succeeds; nil for any.
	Output json.RawMessage
	// OrOutput is set where the run may succeed although there are Codes.
	OrOutput bool
}

// Language is the first part of the name.
func (c Case) Language() string {
	language, _, _ := strings.Cut(c.Name, "/")
	return language
}

// Kind is the second part of the name: what kind of attack it is.
func (c Case) Kind() string {
	_, rest, _ := strings.Cut(c.Name, "/")
	kind, _, _ := strings.Cut(rest, "/")
	return kind
}

// String says what is wanted as a case's header does.
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

// parseWant reads what String wrote, in any order; what is after "output" goes to the end, or to the next " or ".
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
			return w, fmt.Errorf("there is no code %q", word)
		}
		w.Codes = append(w.Codes, code)
	}
	if w.Output != nil && !json.Valid(w.Output) {
		return w, fmt.Errorf("the output %s is no JSON", w.Output)
	}
	w.OrOutput = w.OrOutput && len(w.Codes) > 0
	return w, nil
}

// All returns every case, sorted by name. An error is a mistake in the corpus.
func All() ([]Case, error) {
	written, err := written()
	if err != nil {
		return nil, err
	}
	all := slices.Concat(written, made())
	slices.SortFunc(all, func(a, b Case) int { return cmp.Compare(a.Name, b.Name) })
	for i := range all {
		if err := all[i].check(); err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].Name, err)
		}
		if i > 0 && all[i].Name == all[i-1].Name {
			return nil, fmt.Errorf("two cases are called %s", all[i].Name)
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
		return fmt.Errorf("a name has three parts")
	case c.Mechanism == "":
		return fmt.Errorf("the mechanism is missing")
	case c.Tool == "":
		return fmt.Errorf("the tool is missing")
	}
	return nil
}

// Allows reports whether a run may end so: with "ok" and its output, or with a fault's code.
func (w Want) Allows(word string, output json.RawMessage) bool {
	if word != "ok" {
		return slices.Contains(w.Codes, abi.Code(word))
	}
	if len(w.Codes) > 0 && !w.OrOutput {
		return false
	}
	return w.Output == nil || sameJSON(w.Output, output)
}

// sameJSON reports whether two texts are the same value.
func sameJSON(a, b []byte) bool {
	var left, right any
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return false
	}
	return reflect.DeepEqual(left, right)
}

// Python reports whether the tool is written in Python, whose interpreter is no part of toolrun: it may be missing.
func (c Case) Python() bool { return path.Ext(c.Entry()) == ".py" }

// Has reports whether a file is among those of the case.
func (c Case) Has(path string) bool {
	return slices.ContainsFunc(c.Files, func(f File) bool { return f.Path == path })
}

// Entry is the file that a host would read first.
func (c Case) Entry() string {
	for _, name := range []string{"app.yaml", "tool.json", "main.js", "main.ts", "main.py", "main.wasm"} {
		if c.Has(name) {
			return name
		}
	}
	return c.Tool
}
