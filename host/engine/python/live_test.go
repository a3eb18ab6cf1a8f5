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

// BenchmarkLive measures how much private memory of this process each run needs. The result
// includes the memory of the guest and the memory of the host. During the measurement, the runs
// wait in a memory call.
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

// waiting starts n runs and returns the private memory of this process while the runs are waiting.
// The unit of the result is KiB.
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

// private returns the anonymous memory of this process in KiB. If the process has modified a page
// of a mapped file, the result includes the modified copy of the page.
func private(b *testing.B) int {
	file, err := os.Open("/proc/self/smaps_rollup")
	if err != nil {
		b.Skipf("this system does not report private memory: %v", err)
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
	b.Fatal("/proc/self/smaps_rollup has no line for anonymous memory")
	return 0
}
