package host_test

import (
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// An invocation without a tool runs the default tool.
func TestDefaultTool(t *testing.T) {
	files := func(text string) fstest.MapFS {
		return fstest.MapFS{"app.yaml": {Data: []byte(text)}, "a.js": {Data: []byte(`return "a"`)}, "b.js": {Data: []byte(`return "b"`)}}
	}
	const a, b = "  a: {source: a.js, description: a}\n", "  b: {source: b.js, description: b}\n"
	for _, tt := range []struct {
		name, app, want string
		err             abi.Code
	}{
		{"the only tool", "app: x\ntools:\n" + a, "a", ""},
		{"the declared default", "app: x\ndefault_tool: b\ntools:\n" + a + b, "b", ""},
		{"several", "app: x\ntools:\n" + a + b, "", abi.InvalidArgument},
		{"none", "app: x\n", "", abi.NotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := openApp(t, files(tt.app))
			result, err := h.Run(t.Context(), host.Invocation{})
			if tt.err != "" {
				if f := abi.FaultOf(err); f.Code != tt.err || f.Hint == "" {
					t.Errorf("Run = %v (%s); want %s and a hint", err, f.Hint, tt.err)
				}
				return
			}
			if err != nil || result.Tool != tt.want || string(result.Output) != `"`+tt.want+`"` {
				t.Errorf("Run = %+v, %v; want a run of %s", result, err, tt.want)
			}
			if name, err := h.DefaultTool(); name != tt.want || err != nil {
				t.Errorf("DefaultTool = %q, %v; want %q", name, err, tt.want)
			}
		})
	}
}
