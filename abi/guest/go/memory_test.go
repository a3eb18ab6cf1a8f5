package toolrun_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	toolrun "github.com/toolrun/toolrun/abi/guest/go"
	"github.com/toolrun/toolrun/abi/guest/go/internal/imports"
	"github.com/toolrun/toolrun/abi/guest/go/toolruntest"
)

// recorder is a host that records the last call and returns the same reply to every call.
type recorder struct {
	imports.Host // nil: only Call is used
	reply        string
	number       int32
	op           string
	args         []string
}

func (r *recorder) Call(op string, args []string) ([]byte, int32, bool) {
	r.op, r.args = op, args
	return []byte(r.reply), r.number, true
}

func record(t *testing.T, reply string, number int32) *recorder {
	t.Helper()
	r := &recorder{reply: reply, number: number}
	release, ok := imports.Use(r)
	if !ok {
		t.Fatal("another host is in use")
	}
	t.Cleanup(release)
	return r
}

// TestArguments checks the arguments that the host gets. An absent argument is an empty text.
func TestArguments(t *testing.T) {
	var into any
	tests := []struct {
		name string
		call func() error
		op   string
		want []string
	}{
		{"get", func() error { _, err := toolrun.GetContent("s", &into); return err }, abi.GetContent, []string{"s", "", ""}},
		{"get a part", func() error {
			_, err := toolrun.GetContent("s", &into, toolrun.Project(map[string]any{"a.b": 1}))
			return err
		}, abi.GetContent, []string{"s", `{"a.b":1}`, ""}},
		{"get a record", func() error {
			_, err := toolrun.GetRecord("s", &into, toolrun.Project(map[string]int{"a": 0}))
			return err
		}, abi.GetContent, []string{"s", `{"a":0}`, `{"record":true}`}},
		{"set", func() error { _, err := toolrun.SetContent("s", map[string]any{"a": "<"}); return err }, abi.SetContent, []string{"s", `{"a":"<"}`, ""}},
		{"set null", func() error { _, err := toolrun.SetContent("s", nil); return err }, abi.SetContent, []string{"s", `null`, ""}},
		{"set with options", func() error {
			_, err := toolrun.SetContent("s", 1, toolrun.Replace(), toolrun.IfRevision(0), toolrun.TTL(90*time.Minute))
			return err
		}, abi.SetContent, []string{"s", `1`, `{"if_revision":0,"replace":true,"ttl":"5400s"}`}},
		{"delete", func() error { _, err := toolrun.DeleteContent("s"); return err }, abi.DeleteContent, []string{"s", ""}},
		{"delete a revision", func() error { _, err := toolrun.DeleteContent("s", toolrun.IfRevision(7)); return err },
			abi.DeleteContent, []string{"s", `{"if_revision":7}`}},
		{"call", func() error { _, err := toolrun.Call("later", "s", nil, json.RawMessage(` [1] `)); return err }, "later", []string{"s", "", "[1]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := record(t, "null", 4)
			if err := tt.call(); err != nil {
				t.Fatal(err)
			}
			if r.op != tt.op || !reflect.DeepEqual(r.args, tt.want) {
				t.Errorf("the host gets %s %q; want %s %q", r.op, r.args, tt.op, tt.want)
			}
		})
	}
}

func TestReplies(t *testing.T) {
	const updated = "2031-05-06T07:08:09Z"
	t.Run("a content", func(t *testing.T) {
		record(t, `{"n":3}`, 7)
		var got struct{ N int }
		if found, err := toolrun.GetContent("s", &got); !found || err != nil || got.N != 3 {
			t.Errorf("GetContent = %t, %v, %+v; want 3", found, err, got)
		}
	})
	t.Run("no content", func(t *testing.T) {
		record(t, `null`, 4)
		got := struct{ N int }{5}
		if found, err := toolrun.GetContent("s", &got); found || err != nil || got.N != 5 {
			t.Errorf("GetContent = %t, %v, %+v; want it unchanged", found, err, got)
		}
	})
	t.Run("a content of another type", func(t *testing.T) {
		record(t, `{"n":"x"}`, 9)
		var got struct{ N int }
		if _, err := toolrun.GetContent("s", &got); err == nil {
			t.Errorf("GetContent = %+v; want an error", got)
		}
	})
	t.Run("a record", func(t *testing.T) {
		record(t, `{"content":{"n":3},"revision":2,"created":"2031-05-06T07:08:09Z","updated_at":"2031-05-06T07:08:09Z","expires_at":null}`, 1)
		var got struct{ N int }
		want := toolrun.Record{Revision: 2, Created: updated, Updated: updated}
		if r, err := toolrun.GetRecord("s", &got); err != nil || r != want || got.N != 3 {
			t.Errorf("GetRecord = %+v, %v, %+v; want %+v and 3", r, err, got, want)
		}
	})
	t.Run("a blind merge", func(t *testing.T) {
		record(t, `{"success":true,"revision":null,"updated_at":null,"expires_at":"2031-05-06T07:08:09Z"}`, 1)
		want := toolrun.Record{Expires: updated}
		if r, err := toolrun.SetContent("s", struct{}{}); err != nil || r != want {
			t.Errorf("SetContent = %+v, %v; want %+v", r, err, want)
		}
	})
	t.Run("a deleted record", func(t *testing.T) {
		record(t, `{"success":true,"deleted":true}`, 1)
		if deleted, err := toolrun.DeleteContent("s"); !deleted || err != nil {
			t.Errorf("DeleteContent = %t, %v; want true", deleted, err)
		}
	})
}

func TestFaults(t *testing.T) {
	t.Run("of the host", func(t *testing.T) {
		record(t, `{"code":"schema_violation","message":"m","op":"set_content","store":"s","violations":[{"pointer":"/a","keyword":"type","limit":"integer"}],"hint":"h","id":"4"}`, -4)
		_, err := toolrun.SetContent("s", 1)
		f, ok := errors.AsType[*abi.Fault](err)
		if !ok || !errors.Is(err, abi.SchemaViolation) || f.ID != "4" || f.Hint != "h" || f.Store != "s" || len(f.Violations) != 1 || f.File != "memory_test.go" {
			t.Errorf("SetContent = %+v; want the fault of the host with a position", err)
		}
	})
	t.Run("of a later version", func(t *testing.T) {
		record(t, `{"code":"too_early","message":"m"}`, -99)
		if _, err := toolrun.SetContent("s", 1); !errors.Is(err, abi.Code("too_early")) {
			t.Errorf("SetContent = %v; want too_early", err)
		}
	})
	t.Run("without a text", func(t *testing.T) {
		record(t, ``, -int32(abi.ReadOnly.Number()))
		if _, err := toolrun.SetContent("s", 1); !errors.Is(err, abi.ReadOnly) {
			t.Errorf("SetContent = %v; want %s", err, abi.ReadOnly)
		}
	})
	t.Run("of a value that is not JSON", func(t *testing.T) {
		r := record(t, `null`, 4)
		if _, err := toolrun.SetContent("s", map[string]any{"f": func() {}}); !errors.Is(err, abi.InvalidArgument) || r.op != "" {
			t.Errorf("SetContent = %v, and the host gets %q; want %s, and no call", err, r.op, abi.InvalidArgument)
		}
	})
	t.Run("of an unknown operation", func(t *testing.T) {
		toolruntest.New(t)
		if _, err := toolrun.Call("later", "s"); !errors.Is(err, abi.InvalidArgument) {
			t.Errorf("Call = %v; want %s", err, abi.InvalidArgument)
		}
	})
}

func TestContext(t *testing.T) {
	h := toolruntest.New(t)
	h.SetContext(json.RawMessage(`{"runId":"r","appId":"a","userId":null,"sessionId":"s","env":{"K":"v"},"steps":{"start":{"output":1}},"message":"hi"}`))
	c, err := toolrun.GetContext()
	if err != nil || c.RunID != "r" || c.AppID != "a" || c.UserID != "" || c.SessionID != "s" || c.Env["K"] != "v" || string(c.Steps["start"]) != `{"output":1}` {
		t.Errorf("GetContext = %+v, %v", c, err)
	}
	var raw struct{ Message string }
	if err := json.Unmarshal(c.Raw, &raw); err != nil || raw.Message != "hi" {
		t.Errorf("Raw = %s, %v; want the whole document", c.Raw, err)
	}
	for key, value := range map[string]any{"n": 1, "list": []string{"<"}} {
		if err := toolrun.SetContext(key, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := toolrun.SetContext("n", 2); err != nil {
		t.Fatal(err)
	}
	if err := toolrun.SetContext("bad", make(chan int)); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("SetContext of a channel = %v; want %s", err, abi.InvalidArgument)
	}
	if got, want := string(h.Changes()), `{"list":["<"],"n":2}`; got != want {
		t.Errorf("Changes = %s; want %s", got, want)
	}
}

func TestLog(t *testing.T) {
	h := toolruntest.New(t)
	toolrun.Debugf("a %d", 1)
	toolrun.Infof("100%%")
	toolrun.Warnf("w")
	toolrun.Errorf("e")
	want := []abi.LogLine{{Level: abi.LevelDebug, Text: "a 1"}, {Level: abi.LevelInfo, Text: "100%"}, {Level: abi.LevelWarn, Text: "w"}, {Level: abi.LevelError, Text: "e"}}
	if got := h.Logs(); !reflect.DeepEqual(got, want) {
		t.Errorf("Logs = %+v; want %+v", got, want)
	}
}
