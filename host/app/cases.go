package app

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/problem"
)

// casesSuffix follows the name of the tool in the name of a file with test cases.
const casesSuffix = ".tests.yaml"

// maxCases is the maximum number of test cases of a tool.
const maxCases = 500

// These are the default user and the default session of the caller in a Case.
const (
	caseUser    = "user_test"
	caseSession = "session_test"
)

// Case is a test case. It describes a run of a tool, and the expected Result of this run.
type Case struct {
	Name string
	// File, Line and Column are the position at which the name of the case is written.
	File         string
	Line, Column int
	// Given is the input. The default is {}. Context contains additional members for the context of
	// the run. Context can be nil.
	Given, Context json.RawMessage
	// User and Session identify the caller of the run. The defaults are "user_test" and
	// "session_test". If User is "", the caller has no user. If Session is "", the caller has no
	// session.
	User, Session string
	// Before contains the contents that stores have before the run. The contents are in the order
	// of the file.
	Before []CaseRecord
	// Mocks contains the mocks of the run. Mocks can be nil.
	Mocks *CaseValue
	// Expect is the expected output of the run. Expect can be nil. An object in the output can have
	// more members than the object in Expect.
	Expect *CaseValue
	// Remembered contains the entries that the run must remember. Remembered can be nil.
	Remembered *CaseValue
	// After contains the contents that stores must have after the run.
	After []CaseRecord
	// Fails is the code of the expected fault. If no fault is expected, Fails is "".
	Fails abi.Code
}

// CaseRecord describes the content of one store in a Case.
type CaseRecord struct {
	Store string
	CaseValue
}

// CaseValue is a value that a file of test cases contains.
type CaseValue struct {
	JSON json.RawMessage
	node *node
}

// Position returns the position of the part of the value to which a JSON Pointer refers. If the
// value has no such part, Position follows the pointer as far as possible, and returns the position
// of the last part that exists.
func (v CaseValue) Position(pointer string) (line, column int) {
	at := v.node.at(pointer)
	if pointer == "" {
		at = v.node.position
	}
	return at.line, at.column
}

// CasesFile returns the path of the file that can contain the test cases of a tool. This file is in
// the folder of the tool. The returned path is relative to the folder of the app.
func (t Tool) CasesFile() string {
	folder := t.Dir
	if folder == "" {
		folder = path.Dir(t.Source)
	}
	return path.Join(folder, t.Name+casesSuffix)
}

// StrayCases returns the files with test cases that belong to no tool, although they are in the
// folder of a tool. The returned paths are sorted and relative to the folder of the app.
func (a *App) StrayCases() []string {
	belongs, folders := map[string]bool{}, map[string]bool{}
	for _, t := range a.Tools {
		file := t.CasesFile()
		belongs[file], folders[path.Dir(file)] = true, true
	}
	var stray []string
	for folder := range folders {
		entries, _ := fs.ReadDir(a.Files, folder) // a folder that cannot be read has no such files
		for _, entry := range entries {
			if file := path.Join(folder, entry.Name()); strings.HasSuffix(file, casesSuffix) && !belongs[file] {
				stray = append(stray, file)
			}
		}
	}
	slices.Sort(stray)
	return stray
}

// LoadCases reads the test cases of a tool. If the tool has no file with test cases, LoadCases
// returns no cases and no problems.
func LoadCases(fsys fs.FS, t Tool) ([]Case, problem.List) {
	file := t.CasesFile()
	if _, err := fs.Lstat(fsys, file); err != nil {
		return nil, nil
	}
	l := Loader{}.begin(fsys)
	r := caseReader{l.fieldReader, l.tools.schemas}
	root := l.files.document(file, position{file: file})
	if root == nil || !r.keys(root, "a file of tests", []string{"tests"}) {
		return nil, l.problems.Sorted()
	}
	cases := r.cases(root)
	return cases, l.problems.Sorted()
}

var caseKeys = []string{"name", "given", "context", "user", "session", "before", "mocks", "expect", "remembered", "after", "fails"}

// caseReader reads test cases.
type caseReader struct {
	fieldReader
	schemas *schemaReader
}

func (r caseReader) cases(root *node) []Case {
	n := root.get("tests")
	if n == nil || n.kind != list {
		at := root.position
		if n != nil {
			at = n.position
		}
		r.errorf(at, problem.WrongType, "write `tests:`, and write a list of tests on the lines below; every test requires a name", "the value of `tests` must be a list")
		return nil
	}
	if len(n.items) > maxCases {
		r.errorf(n.items[maxCases].position, problem.OverLimit, "", "there are more than %d tests", maxCases)
		return nil
	}
	var cases []Case
	seen := map[string]bool{}
	for _, item := range n.items {
		if !r.keys(item, "a test", caseKeys) {
			continue
		}
		c := r.one(item)
		if seen[c.Name] && c.Name != "" {
			r.errorf(item.at("/name"), problem.DuplicateName, "choose another name", "two tests have the name %s", problem.Quote(c.Name))
		}
		seen[c.Name] = true
		cases = append(cases, c)
	}
	return cases
}

// The method "one" reads a test case.
func (r caseReader) one(n *node) Case {
	at := n.at("/name")
	c := Case{Name: r.text(n.get("name"), "name"), File: at.file, Line: at.line, Column: at.column, Given: json.RawMessage("{}")}
	if n.get("name") == nil && lacks(n, "name", caseKeys) {
		r.errorf(n.position, problem.MissingKey, `add name: "what is tested"`, "the test has no name")
	}
	if v := r.object(n, "given"); v != nil {
		c.Given = v.JSON
	}
	if v := r.object(n, "context"); v != nil {
		c.Context = v.JSON
	}
	c.User, c.Session = r.id(n.get("user"), "user", caseUser), r.id(n.get("session"), "session", caseSession)
	c.Before, c.After = r.records(n, "before"), r.records(n, "after")
	c.Mocks, c.Expect, c.Remembered = r.object(n, "mocks"), r.value(n.get("expect")), r.value(n.get("remembered"))
	if list := n.get("remembered"); list != nil {
		r.entriesOf(list)
	}
	r.expectations(n, &c)
	return c
}

// expectations reads the expected fault. expectations also checks that the test case has at least
// one expectation.
func (r caseReader) expectations(n *node, c *Case) {
	fails := n.get("fails")
	if fails != nil {
		c.Fails = abi.Code(r.text(fails, "fails"))
		if c.Fails != "" && c.Fails.Number() == 0 {
			known := make([]string, 0, len(abi.Codes()))
			for _, code := range abi.Codes() {
				known = append(known, string(code))
			}
			r.errorf(fails.position, problem.BadValue, didYouMean(string(c.Fails), known), "the value %s is not the code of a fault", problem.Quote(string(c.Fails)))
		}
	}
	others := 0
	for _, key := range []string{"expect", "remembered", "after"} {
		if v := n.get(key); v != nil {
			others++
			if fails != nil {
				r.errorf(n.at("/"+key), problem.Contradiction, "remove "+key+" or fails", "a run that fails stores nothing and has no output")
			}
		}
	}
	if fails == nil && others == 0 {
		r.errorf(n.position, problem.MissingKey, "add `expect`, `remembered`, `after` or `fails`", "the test %s has no expectation", problem.Quote(c.Name))
	}
}

var entryKeys = []string{"collection", "namespace", "id", "content", "metadata", "expires_at"}

// entriesOf checks the keys in the entries that a test case expects.
func (r caseReader) entriesOf(n *node) {
	if n.kind != list {
		r.errorf(n.position, problem.WrongType, "write a list of entries, such as `[{collection: kb, content: text}]`", "the value of `remembered` must be a list, not %s", n.kind)
		return
	}
	for _, item := range n.items {
		r.keys(item, "an entry", entryKeys)
	}
}

// id returns an id. If the key is missing, id returns the argument "otherwise". If the value is
// null, id returns "".
func (r caseReader) id(n *node, key, otherwise string) string {
	switch {
	case n == nil:
		return otherwise
	case n.kind == null:
		return ""
	}
	return r.text(n, key)
}

// records reads the contents of stores.
func (r caseReader) records(n *node, key string) []CaseRecord {
	stores := n.get(key)
	if stores == nil {
		return nil
	}
	if stores.kind != object {
		r.errorf(stores.position, problem.WrongType, "write {STORE: CONTENT}", "%s must be a mapping from stores to contents, not %s", key, stores.kind)
		return nil
	}
	r.once(stores)
	var records []CaseRecord
	for _, m := range stores.members {
		if v := r.value(m.value); v != nil {
			records = append(records, CaseRecord{m.key, *v})
		}
	}
	return records
}

// The method "object" returns the value of a key that must contain an object. If the key is
// missing, the method returns nil. If the value is not an object, the method reports an error and
// returns nil.
func (r caseReader) object(n *node, key string) *CaseValue {
	v := n.get(key)
	if v == nil {
		return nil
	}
	if v.kind != object {
		r.errorf(v.position, problem.WrongType, "write {name: value}", "%s must be a mapping, not %s", key, v.kind)
		return nil
	}
	return r.value(v)
}

// value returns a value as JSON. If the key is missing, value returns nil.
func (r caseReader) value(n *node) *CaseValue {
	if n == nil || !r.schemas.isJSON(n) {
		return nil
	}
	var b bytes.Buffer
	n.appendJSON(&b)
	return &CaseValue{b.Bytes(), n}
}
