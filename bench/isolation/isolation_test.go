package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/bench/measure"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engines"
)

func TestMain(m *testing.M) {
	engines.Main()
	os.Exit(m.Run())
}

// If no bomb exhausted its resource, the benchmark would show results that are too good.
func TestBombs(t *testing.T) {
	n, err := openNeighbours("test", admission.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.close(); err != nil {
			t.Error(err)
		}
	}()
	for name, wants := range map[string][]abi.Code{
		"loop": {abi.Timeout}, "regexp": {abi.Timeout}, "logs": {abi.Timeout},
		"memory": {abi.MemoryLimit, abi.Timeout}, "repeat": {abi.MemoryLimit, abi.Timeout}, "output": {abi.OutputLimit, abi.Timeout}, // a run ends at the limit that it reaches first
	} {
		result, err := n.bombs.Run(t.Context(), host.Invocation{Tool: name})
		if err == nil || !errors.Is(err, wants[0]) && !errors.Is(err, wants[len(wants)-1]) {
			t.Errorf("the bomb %q ends in %v; want one of %v", name, err, wants)
		}
		if result.Usage.HostCalls != 1 {
			t.Errorf("the bomb %q made %d calls; want 1", name, result.Usage.HostCalls)
		}
	}
}

func TestPeers(t *testing.T) {
	rows, err := readPeers([]byte(`{"name":"one","p50_us":300,"p99_us":900,"runs_per_s":2000}
{"name":"other","missing":"it does not build"}
`))
	if err != nil || len(rows) != 2 {
		t.Fatalf("readPeers = %v, %v; want two rows", rows, err)
	}
	if want := (measure.Row{Name: "one", Workers: 1, P50: 300, P99: 900, Rate: 2000}); rows[0] != want {
		t.Errorf("the first row = %+v; want %+v", rows[0], want)
	}
	named := measure.Rows{inWorker: {P50: 100}}
	for _, row := range rows {
		named[row.Name] = row
	}
	figures := peerFigures(named, rows)
	if len(figures) != 1 || figures[0].Value != 3 || !strings.HasPrefix(figures[0].Name, "one,") {
		t.Errorf("the figures = %v; want one with the value 3", figures)
	}
	if _, err := readPeers([]byte("no JSON\n")); err == nil {
		t.Error("readPeers of a line that is not JSON = nil; want an error")
	}
}
