package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/sandbox"
)

// TestDoctorFails checks that the command fails if a layer is missing. The command must not fail if
// only the cgroup layer is missing.
func TestDoctorFails(t *testing.T) {
	for _, tt := range []struct {
		off string
		bad bool
	}{{off: ""}, {off: sandbox.LayerCgroup}, {off: sandbox.LayerLandlock, bad: true}} {
		var out bytes.Buffer
		dc := doctorCommand{newBase(Env{Stdout: &out})}
		var report sandbox.Report
		for _, name := range sandbox.Layers() {
			report.Layers = append(report.Layers, sandbox.Layer{Name: name, On: name != tt.off, Detail: "why"})
		}
		err := dc.showLayers(report)
		if tt.bad != errors.Is(err, abi.Unavailable) || tt.bad != (err != nil) || tt.bad && (exitCode(err) != 5 || !strings.Contains(err.Error(), tt.off)) {
			t.Errorf("doctor without %q = %v; want a failure: %v", tt.off, err, tt.bad)
		}
		if n := strings.Count(out.String(), "\n"); n != len(sandbox.Layers()) {
			t.Errorf("doctor without %q shows %d layers; want all", tt.off, n)
		}
	}
}
