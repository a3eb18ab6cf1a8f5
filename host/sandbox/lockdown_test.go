//go:build linux

package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// kernelLayers contains the layers of a worker that the kernel enforces.
var kernelLayers = []string{
	sandbox.LayerNamespaces, sandbox.LayerPrivileges, sandbox.LayerLimits, sandbox.LayerCgroup, sandbox.LayerLandlock, sandbox.LayerChroot, sandbox.LayerSeccomp,
}

// The variable attempts contains the acts that a guest tries. Each attempt lists the layers that
// can prevent the act. Each of these layers prevents the act, even if all other layers are off.
var attempts = []struct {
	act    string
	layers []string
	root   bool // only root can perform the act, even if no layer is on
}{
	{act: "open a file", layers: []string{sandbox.LayerLandlock, sandbox.LayerChroot, sandbox.LayerSeccomp}},
	{act: "look at a file", layers: []string{sandbox.LayerChroot, sandbox.LayerSeccomp}},
	{act: "read a link", layers: []string{sandbox.LayerChroot, sandbox.LayerSeccomp}},
	{act: "list a folder", layers: []string{sandbox.LayerLandlock, sandbox.LayerChroot, sandbox.LayerSeccomp}},
	{act: "write a file", layers: []string{sandbox.LayerLandlock, sandbox.LayerChroot, sandbox.LayerSeccomp}},
	{act: "remove a file", layers: []string{sandbox.LayerLandlock, sandbox.LayerChroot, sandbox.LayerSeccomp}},
	{act: "start threads", layers: []string{sandbox.LayerCgroup}},
	{act: "be signalled", layers: []string{sandbox.LayerSeccomp}},
	{act: "take a lease", layers: []string{sandbox.LayerSeccomp}},
	{act: "enlarge a pipe", layers: []string{sandbox.LayerSeccomp}},
	{act: "fill a memory file", layers: []string{sandbox.LayerLimits, sandbox.LayerCgroup, sandbox.LayerSeccomp}},
	{act: "map shared memory", layers: []string{sandbox.LayerCgroup, sandbox.LayerSeccomp}},
	{act: "read a quarter of a terabyte", layers: []string{sandbox.LayerLimits, sandbox.LayerCgroup}},
	{act: "connect", layers: []string{sandbox.LayerNamespaces, sandbox.LayerLandlock, sandbox.LayerSeccomp}},
	{act: "send UDP", layers: []string{sandbox.LayerNamespaces, sandbox.LayerSeccomp}},
	{act: "connect to an abstract socket", layers: []string{sandbox.LayerNamespaces, sandbox.LayerLandlock, sandbox.LayerSeccomp}},
	{act: "execute", layers: []string{sandbox.LayerLandlock, sandbox.LayerSeccomp}},
	{act: "trace a process", layers: []string{sandbox.LayerNamespaces, sandbox.LayerLandlock, sandbox.LayerSeccomp}},
	{act: "read a process's memory", layers: []string{sandbox.LayerNamespaces, sandbox.LayerLandlock, sandbox.LayerSeccomp}},
	{act: "read a process's environment", layers: []string{sandbox.LayerNamespaces, sandbox.LayerLandlock, sandbox.LayerSeccomp}},
	{act: "signal a process", layers: []string{sandbox.LayerLandlock, sandbox.LayerSeccomp}},
	{act: "raise its own limits", layers: []string{sandbox.LayerSeccomp}},
	{act: "make a namespace", layers: []string{sandbox.LayerNamespaces, sandbox.LayerSeccomp}, root: true},
	{act: "mount", layers: []string{sandbox.LayerNamespaces, sandbox.LayerLandlock, sandbox.LayerSeccomp}, root: true},
	{act: "make a ring", layers: []string{sandbox.LayerSeccomp}},
	{act: "load a program into the kernel", layers: []string{sandbox.LayerSeccomp}, root: true},
	{act: "open many descriptors", layers: []string{sandbox.LayerLimits}},
}

// TestLayers tries each act in a worker with different layers. Without layers, the act must
// succeed. The act must fail if all layers are on. The act must also fail if only one of the listed
// layers is on.
func TestLayers(t *testing.T) {
	w := newTestEnv(t)
	for _, a := range attempts {
		t.Run(a.act, func(t *testing.T) {
			if a.root && os.Geteuid() != 0 {
				t.Skip("requires root")
			}
			if got := w.try(t, a.act); got != "done" {
				t.Fatalf("without layers: %s; want done, because the layers must be the only obstacle", got)
			}
			for _, layer := range a.layers {
				only := []string{layer}
				if layer == sandbox.LayerChroot && os.Geteuid() != 0 { // only root can change the root
					only = append(only, sandbox.LayerNamespaces)
				}
				if got := w.try(t, a.act, only...); got == "done" {
					t.Errorf("with only the layer %s, the act succeeded; want an error", layer)
				}
			}
			if got := w.try(t, a.act, kernelLayers...); got == "done" {
				t.Error("with all layers, the act succeeded; want an error")
			}
		})
	}
}

// TestEnvironment checks that a worker inherits no environment variables, whatever layers it has.
func TestEnvironment(t *testing.T) {
	t.Setenv("TOOLRUN_TEST_SECRET", "secret")
	if got := newTestEnv(t).try(t, "read the environment"); got != "it is empty" {
		t.Errorf("the environment of a worker is %s; want an empty environment", got)
	}
}

// testEnv contains the targets that the acts try to reach.
type testEnv struct {
	file     string
	tcp, udp string
	abstract string
	pid      int
	pools    map[string]engine.Engine
	report   sandbox.Report
	test     *testing.T
}

func newTestEnv(t *testing.T) *testEnv {
	w := &testEnv{test: t, pools: map[string]engine.Engine{}, abstract: fmt.Sprintf("@toolrun-test-%d", os.Getpid())}
	w.file = filepath.Join(t.TempDir(), "file")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { packets.Close() })
	local, err := net.Listen("unix", w.abstract)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	w.tcp, w.udp = listener.Addr().String(), packets.LocalAddr().String()
	sleeper := exec.Command("sleep", "1000")
	if err := sleeper.Start(); err != nil {
		t.Skipf("cannot start the command sleep: %v", err)
	}
	t.Cleanup(func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() })
	w.pid = sleeper.Process.Pid
	if w.report, err = newPool(t, sandbox.Options{}).Report(); err != nil {
		t.Fatal(err)
	}
	return w
}

// try performs an act in a worker and returns the result. Only the given kernel layers of the
// worker are on.
func (w *testEnv) try(t *testing.T, name string, with ...string) string {
	t.Helper()
	for _, layer := range with {
		if len(with) == 1 && !w.report.On(layer) {
			t.Skipf("this machine lacks the layer %s", layer)
		}
	}
	key := strings.Join(with, " ")
	e := w.pools[key]
	if e == nil {
		var without []string
		for _, layer := range kernelLayers {
			// Landlock and the seccomp filter work only if LayerPrivileges is on.
			if !slices.Contains(with, layer) && (layer != sandbox.LayerPrivileges || len(with) == 0) {
				without = append(without, layer)
			}
		}
		e = newPool(w.test, sandbox.Options{Without: without}).Engines()[probing]
		w.pools[key] = e
	}
	if err := os.WriteFile(w.file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := e.Load(t.Context(), engine.Source{Path: "act.probe", Code: []byte(name)})
	if err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(map[string]any{"text": []byte(w.argument(name)), "pid": w.pid})
	if err != nil {
		t.Fatal(err)
	}
	out, err := program.Run(t.Context(), engine.Input{Input: input}, engine.Host{})
	if err != nil {
		t.Logf("%s with %q: %v", name, key, err)
		return err.Error()
	}
	var got string
	if err := json.Unmarshal(out.Output, &got); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s with %q: %s", name, key, got)
	return got
}

func (w *testEnv) argument(act string) string {
	switch act {
	case "connect":
		return w.tcp
	case "send UDP":
		return w.udp
	case "connect to an abstract socket":
		return w.abstract
	case "execute":
		return "/proc/self/exe"
	}
	return w.file
}

// TestSameLayers checks that all workers have the same layers. Different threads can apply the
// layers.
func TestSameLayers(t *testing.T) {
	first, err := newPool(t, sandbox.Options{}).Report()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		pool := newPool(t, sandbox.Options{})
		report, err := pool.Report()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(report.Layers, first.Layers) {
			t.Errorf("the layers are %v; want %v, like the first worker", report.Layers, first.Layers)
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}
}
