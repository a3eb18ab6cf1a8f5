package python

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// FuzzMessages splits its input at NULs into messages from a guest. The run must return JSON within
// its limits, or a fault whose code is not internal. Every call that reaches the host must be well
// formed.
func FuzzMessages(f *testing.F) {
	for _, message := range []string{
		"call\nget_content\n\"prefs\"\n{}", "call\nset_content\n\"a\"\n\n{", "call\nnope", "call", "call\nget_content\n\n\n\n\n\n",
		"refuse\nget_content\ninvalid\n\"it is wrong\"", "refuse", "log\nwarn\n\"text\"", "log\n\n", "file\n\"a.py\"", "file\n\"../a.py\"", "file\n1",
		"ready\n1\n2\n3", "done\n{}", "answer\n1\n{}", "answer\n{\"a\":[1,2,{\"b\":null}]}\n{\"steps\":1}", "answer\n[[[[[[1]]]]]]\n[]", "answer\nNaN", "answer",
		"unfit\n\"output is a set\"", "unfit", "error\n{\"message\":\"m\",\"fault\":0,\"line\":-1}", "error\n{\"kind\":\"memory\"}", "error\n{\"kind\":\"recursion\"}", "error\n[]",
		"call\nget_content\n\"forbidden\"\x00error\n{\"fault\":0,\"file\":\"tool.py\",\"line\":3}", "nothing\n",
	} {
		f.Add([]byte(message), true)
	}
	f.Fuzz(func(t *testing.T, all []byte, running bool) {
		host := engine.Host{
			Call: func(_ context.Context, call abi.Call) (json.RawMessage, error) {
				for i, arg := range call.Args {
					if arg != nil && !json.Valid(arg) {
						t.Errorf("argument %d of %s is not JSON: %q", i, call.Op, arg)
					}
				}
				return nil, &abi.Fault{Code: abi.AccessDenied, Message: "no", ID: "secret"}
			},
			Log: func(_ abi.Level, text string) error {
				if len(text) > maxLogBytes+len("…") {
					t.Errorf("a log line has %d bytes", len(text))
				}
				return nil
			},
		}
		r := newRun(context.Background(), engine.Input{Limits: engine.Limits{OutputBytes: 1000, ValueNesting: 5}}, host, machine.Sources{})
		r.files = newFolder(fstest.MapFS{"a.py": {Data: []byte("a = 1")}})
		r.channel.push(map[bool]string{true: "run\n{}", false: "load\n{}"}[running])
		buffer := make([]byte, 64)
		for message := range bytes.SplitSeq(all, []byte{0}) {
			_, _ = r.channel.Read(buffer)
			if _, err := r.channel.Write(message); err != nil {
				break
			}
		}
		out, err := r.conclude(&program{}, nil)
		fault, ok := errors.AsType[*abi.Fault](err)
		switch {
		case err != nil && (!ok || fault.Code == abi.Internal):
			t.Errorf("conclude = %v; want a fault other than internal", err)
		case err == nil && (!json.Valid(out.Output) || len(out.Output) > 1000 || out.Context != nil && !json.Valid(out.Context)):
			t.Errorf("output = %q, context = %q; want JSON within the limits", out.Output, out.Context)
		case ok && fault.ID != "" && fault.Code != abi.AccessDenied:
			t.Errorf("a fault that is not from the host has an id: %+v", fault)
		}
	})
}
