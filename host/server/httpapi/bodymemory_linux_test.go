package httpapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// The variable bodies contains requests whose bodies take the most memory for their length.
var bodies = map[string]struct{ who, method, path, body string }{
	"many values": {"ann", "POST", "/api/v1/runs", `{"tool":"look","context":{"a":[` + strings.Repeat(`{"":0},`, 498_000) + `0]}}`},
	"as many as there may be": {"bob", "POST", "/api/v1/runs",
		`{"tool":"look","context":{"a":[` + strings.Repeat(`{"":0},`, 149_000) + `0],"b":"` + strings.Repeat("x", 3<<20) + `"}}`},
	"much env":        {"ann", "POST", "/api/v1/runs", `{"tool":"look","env":{` + manyMembers(10_000) + `}}`},
	"unknown members": {"bob", "POST", "/api/v1/runs", `{"tool":"look",` + manyMembers(90_000) + `}`},
	"metadata":        {"operator", "POST", "/api/v1/sessions", `{"metadata":{"a":[` + strings.Repeat(`[],`, 80_000) + `0]}}`},
	"a record":        {"operator", "PUT", "/api/v1/stores/flags/record", `{"a":[` + strings.Repeat(`[],`, 80_000) + `0]}`},
	"an import":       {"operator", "POST", "/api/v1/import", `{"app":"shop","memory":{"s":{"access":"user","schema":{"enum":[` + strings.Repeat(`[],`, 30_000) + `0]}}}}`},
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"member_%d":"",`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// memoryChild is the environment variable that marks the child process of this test. The memory of
// the child process is small.
const memoryChild = "TOOLRUN_TEST_BODIES"

// TestBodiesInLittleMemory starts a service in a process with 2 GiB of memory. The test
// concurrently sends 16 large bodies of each kind to this service.
func TestBodiesInLittleMemory(t *testing.T) {
	if os.Getenv(memoryChild) != "" {
		sendBodies(t)
		return
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestBodiesInLittleMemory$", "-test.v")
	child.Env = append(os.Environ(), memoryChild+"=1")
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("the service ended: %v\n%s", err, out[max(0, len(out)-2000):])
	}
	for _, line := range regexp.MustCompile(`peak of (.*): (\d+) MiB`).FindAllStringSubmatch(string(out), -1) {
		t.Log(line[0])
		if mib, err := strconv.Atoi(line[2]); err != nil || mib > 768 {
			t.Errorf("%s: the process had %s MiB; want at most three times the limit for bodies", line[1], line[2])
		}
	}
}

func sendBodies(t *testing.T) {
	limit := unix.Rlimit{Cur: 1 << 30, Max: 1 << 30}
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &limit); err != nil {
		t.Fatal(err)
	}
	s := newService(t)
	for name, b := range bodies {
		var all sync.WaitGroup
		statuses := make(chan int, 8)
		for range 8 {
			all.Go(func() {
				r, err := http.NewRequestWithContext(t.Context(), b.method, s.server.URL+b.path, strings.NewReader(b.body))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Authorization", "Bearer "+b.who)
				r.Header.Set("Content-Type", "application/json")
				response, err := http.DefaultClient.Do(r)
				if errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE) {
					statuses <- 0 // rejected before the body was sent completely
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				_ = response.Body.Close()
				statuses <- response.StatusCode
			})
		}
		all.Wait()
		close(statuses)
		seen := map[int]int{}
		for status := range statuses {
			seen[status]++
			if status/100 == 5 && status != http.StatusServiceUnavailable {
				t.Errorf("%s: the status is %d", name, status)
			}
		}
		t.Logf("%s: %v; peak of %s: %d MiB", name, seen, name, peakMiB(t))
	}
}

// peakMiB returns the peak memory of this process.
func peakMiB(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindStringSubmatch(string(text))
	if m == nil {
		t.Fatal("VmHWM is missing")
	}
	kib, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}
