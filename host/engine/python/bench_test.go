package python_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
)

// typical is a tool. The tool reads its input, makes one memory call and uses common modules.
const typical = `
import json, re
from datetime import datetime

def main(input):
    prefs = memory.get_content("prefs") or {}
    words = re.findall(r"\w+", input["text"])
    day = datetime.fromisoformat(input["day"]).strftime("%A")
    return {"words": len(words), "day": day, "copy": json.loads(json.dumps(prefs))}
`

var typicalInput = engine.Input{Input: json.RawMessage(`{"text":"so many words","day":"2031-05-06"}`)}

// BenchmarkRun measures a run in a fresh interpreter.
func BenchmarkRun(b *testing.B) {
	p, in := loadTool(b, newEngine(b), typical), typicalInput
	host := enginetest.NewMemory(nil).Host()
	var took []time.Duration
	for b.Loop() {
		begun := time.Now()
		if _, err := p.Run(b.Context(), in, host); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
}

// BenchmarkRunParallel measures runs on one goroutine per processor.
func BenchmarkRunParallel(b *testing.B) {
	p, in := loadTool(b, newEngine(b), typical), typicalInput
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		host := enginetest.NewMemory(nil).Host()
		for pb.Next() {
			if _, err := p.Run(b.Context(), in, host); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkLoad measures the time to load a tool with an interpreter that has already been started.
func BenchmarkLoad(b *testing.B) {
	e := newEngine(b)
	for b.Loop() {
		p, err := e.Load(b.Context(), engine.Source{Path: "tool.py", Code: []byte(typical)})
		if err != nil {
			b.Fatal(err)
		}
		p.Close()
	}
}

// BenchmarkBoot measures the first load of an engine if the cache contains the compiled
// interpreter.
func BenchmarkBoot(b *testing.B) {
	for b.Loop() {
		e := newEngine(b)
		p, err := e.Load(b.Context(), engine.Source{Path: "tool.py", Code: []byte(typical)})
		if err != nil {
			b.Fatal(err)
		}
		p.Close()
		e.Close()
	}
}
