package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/internal/strictjson"
)

var update = flag.Bool("update", false, "write the answers of vectors.json, and operations.json")

// document is the file of the vectors. What is asked there is written by hand, and the answers by the host's own memory.
type document struct {
	Generated string   `json:"generated"`
	Vectors   []vector `json:"vectors"`
}

// vector is an app's memory, and runs that use it one after the other.
type vector struct {
	Name string `json:"name"`
	// Stores are declared with the keys of an app file.
	Stores map[string]store `json:"stores"`
	// Grants are those of all runs; none at all means everything.
	Grants map[string]string `json:"grants,omitzero"`
	Limits *limits           `json:"limits,omitempty"`
	Runs   []run             `json:"runs"`
}

type store struct {
	Access    string          `json:"access"`
	Retention string          `json:"retention,omitempty"`
	Strict    bool            `json:"strict,omitempty"`
	Schema    json.RawMessage `json:"schema,omitempty"`
}

type limits struct {
	RecordBytes int   `json:"record_bytes,omitempty"`
	Depth       int   `json:"depth,omitempty"`
	Keys        int   `json:"keys,omitempty"`
	AppBytes    int64 `json:"app_bytes,omitempty"`
	AppRecords  int64 `json:"app_records,omitempty"`
}

type run struct {
	// After is how much time goes by before it, and Ends a session that ends then.
	After string `json:"after,omitempty"`
	Ends  string `json:"ends,omitempty"`
	// User and Session are for whom it is; "" is nobody.
	User     string          `json:"user,omitempty"`
	Session  string          `json:"session,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Fails says that the tool fails after its calls.
	Fails bool   `json:"fails,omitempty"`
	Calls []call `json:"calls"`
	// Fault is why the run did not begin, Effects what one that succeeded did.
	Fault   *abi.Fault   `json:"fault,omitempty"`
	Effects *abi.Effects `json:"effects,omitempty"`
}

type call struct {
	Op    string            `json:"op"`
	Args  []json.RawMessage `json:"args"`
	Reply json.RawMessage   `json:"reply,omitempty"`
	Fault *abi.Fault        `json:"fault,omitempty"`
}

const vectorsFile = "vectors.json"

// TestVectors has the host's memory answer every call, and compares.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	var doc document
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	doc.Generated = "in part: the answers (reply, fault, effects), by go test ./sdk/python-wasm/tests -update"
	for i := range doc.Vectors {
		doc.Vectors[i].answer(t)
	}
	want := layout(t, doc)
	if *update {
		if err := os.WriteFile(vectorsFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("the host answers otherwise (-host +file):\n%s", diff)
	}
}

// answer has the host's memory fill in the answers of a vector.
func (v *vector) answer(t *testing.T) {
	t.Helper()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s, err := v.service(func() time.Time { return now })
	if err != nil {
		t.Fatalf("%s: %v", v.Name, err)
	}
	for i := range v.Runs {
		r := &v.Runs[i]
		if r.After != "" {
			d, err := time.ParseDuration(r.After)
			if err != nil {
				t.Fatalf("%s: %v", v.Name, err)
			}
			now = now.Add(d)
		}
		if r.Ends != "" {
			if _, err := s.EndSession(t.Context(), memory.Caller{Tenant: "default", Session: r.Ends}); err != nil {
				t.Fatalf("%s: %v", v.Name, err)
			}
		}
		r.answer(t, s, v, fmt.Sprintf("run_%d", i+1))
	}
}

var errTool = errors.New("the tool fails")

func (r *run) answer(t *testing.T, s *memory.Service, v *vector, id string) {
	t.Helper()
	tx := memory.Tx{
		Caller:  memory.Caller{Tenant: "default", User: r.User, Session: r.Session, Run: id},
		Grants:  v.grants(t),
		Session: memory.SessionStart{Metadata: r.Metadata},
	}
	r.Fault, r.Effects = nil, nil
	done, err := s.Transact(t.Context(), tx, func(ctx context.Context, view *memory.View) error {
		for i := range r.Calls {
			c := &r.Calls[i]
			c.Args = asSent(t, c.Args)
			reply, err := view.Call(ctx, abi.Call{Op: c.Op, Args: c.Args})
			fault, ok := errors.AsType[*abi.Fault](err)
			if err != nil && !ok {
				return err
			}
			c.Reply, c.Fault = reply, fault
		}
		if r.Fails {
			return errTool
		}
		return nil
	})
	fault, ok := errors.AsType[*abi.Fault](err)
	switch {
	case ok:
		r.Fault = fault
	case err == nil:
		r.Effects = &done.Effects
	case !errors.Is(err, errTool):
		t.Fatalf("%s: %v", v.Name, err)
	}
}

// asSent writes arguments as a guest sends them: compact, and in UTF-8.
func asSent(t *testing.T, args []json.RawMessage) []json.RawMessage {
	t.Helper()
	sent := make([]json.RawMessage, len(args))
	for i, arg := range args {
		value, err := strictjson.Decode(arg, strictjson.Limits{})
		if err != nil {
			sent[i] = arg // the host is to refuse it
			continue
		}
		text, err := strictjson.Encode(value)
		if err != nil {
			t.Fatal(err)
		}
		sent[i] = bytes.ReplaceAll(text, []byte(`\u2028`), []byte("\u2028")) // which Go escapes, and Python does not
	}
	return sent
}

// service makes the host's memory of a vector.
func (v *vector) service(now func() time.Time) (*memory.Service, error) {
	cfg := memory.Config{App: "test", Backend: mem.New(), Limits: v.hostLimits(), Now: now}
	for _, name := range slices.Sorted(maps.Keys(v.Stores)) {
		s := v.Stores[name]
		decl := memory.Store{Name: name, Access: memory.Scope(s.Access), Strict: s.Strict, Schema: s.Schema}
		if s.Retention == "" && s.Access == "session" {
			s.Retention = "session"
		}
		if s.Retention != "" {
			var err error
			if decl.Retention, err = memory.ParseRetention(s.Retention); err != nil {
				return nil, err
			}
		}
		cfg.Stores = append(cfg.Stores, decl)
	}
	return memory.New(cfg)
}

// declares reports whether the host takes the vector's stores.
func (v *vector) declares() bool {
	_, err := v.service(nil)
	return err == nil
}

func (v *vector) grants(t *testing.T) []memory.Grant {
	t.Helper()
	words := v.Grants
	if words == nil {
		words = map[string]string{memory.SessionMeta: "read"}
		for name := range v.Stores {
			words[name] = "readwrite"
		}
	}
	grants := []memory.Grant{}
	for _, name := range slices.Sorted(maps.Keys(words)) {
		verbs, err := memory.ParseVerbs(words[name])
		if err != nil {
			t.Fatal(err)
		}
		grants = append(grants, memory.Grant{Store: name, Verbs: verbs})
	}
	return grants
}

func (v *vector) hostLimits() memory.Limits {
	if v.Limits == nil {
		return memory.Limits{}
	}
	l := v.Limits
	return memory.Limits{RecordBytes: l.RecordBytes, Depth: l.Depth, Keys: l.Keys, AppBytes: l.AppBytes, AppRecords: l.AppRecords}
}

// layout writes the document with one line for each call, so that a change is one that a person can read.
func layout(t *testing.T, doc document) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"generated\": %s,\n\"vectors\": [", encode(t, doc.Generated))
	for i, v := range doc.Vectors {
		runs := v.Runs
		v.Runs = nil
		head := bytes.TrimSuffix(encode(t, v), []byte(`"runs":null}`))
		fmt.Fprintf(&b, "%s\n{%s\n  \"runs\": [", comma(i), bytes.TrimPrefix(head, []byte("{")))
		for j, r := range runs {
			writeRun(t, &b, comma(j), r)
		}
		b.WriteString("]}")
	}
	b.WriteString("\n]}\n")
	return b.Bytes()
}

func writeRun(t *testing.T, b *bytes.Buffer, separator string, r run) {
	t.Helper()
	calls := r.Calls
	r.Calls = nil
	before, after, _ := bytes.Cut(encode(t, r), []byte(`"calls":null`))
	fmt.Fprintf(b, "%s\n    %s\"calls\": [", separator, before)
	for i, c := range calls {
		fmt.Fprintf(b, "%s\n      %s", comma(i), encode(t, c))
	}
	fmt.Fprintf(b, "]%s", after)
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}
