package python_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// BenchmarkLive is the memory of this process that a run has to itself, measured where it waits in a memory call: all
// that is private, of the guest and of what serves it.
func BenchmarkLive(b *testing.B) {
	p, in := loadTool(b, newEngine(b), typical), typicalInput
	const lives = 32
	var kib float64
	for b.Loop() {
		one := waiting(b, p, in, 1)
		kib = float64(waiting(b, p, in, 1+lives)-one) / lives
	}
	b.ReportMetric(kib, "private-KiB/run")
}

// waiting returns what is private to this process, in KiB, while so many runs wait.
func waiting(b *testing.B, p engine.Program, in engine.Input, runs int) int {
	var arrived, over sync.WaitGroup
	leave := make(chan struct{})
	host := engine.Host{Call: func(context.Context, abi.Call) (json.RawMessage, error) {
		arrived.Done()
		<-leave
		return json.RawMessage(`null`), nil
	}}
	for range runs {
		arrived.Add(1)
		over.Go(func() {
			if _, err := p.Run(b.Context(), in, host); err != nil {
				b.Error(err)
			}
		})
	}
	arrived.Wait()
	debug.FreeOSMemory()
	kib := private(b)
	close(leave)
	over.Wait()
	return kib
}

// private is the anonymous memory of this process, in KiB: pages of its own, and its copies of pages of files.
func private(b *testing.B) int {
	file, err := os.Open("/proc/self/smaps_rollup")
	if err != nil {
		b.Skipf("this system does not tell what memory is private: %v", err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "Anonymous:"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(text, "kB")))
			if err != nil {
				b.Fatal(err)
			}
			return kib
		}
	}
	b.Fatal("the system's account of memory has no line for anonymous memory")
	return 0
}
