package host_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/host/report"
)

// unrecorded is an observer. For each turn, it collects the number of messages that the transcript
// does not contain.
type unrecorded struct {
	host.NopObserver
	counts []int
}

func (u *unrecorded) RunEnded(_ context.Context, run host.RunInfo, _ *report.Result) {
	if run.Agent != "" {
		u.counts = append(u.counts, run.UnrecordedMessages)
	}
}

// fill stores data of a user until the user has less than 20 bytes of space left.
func (s *sleeper) fill(user string) {
	s.t.Helper()
	c := host.Caller{User: user}
	for n := 8000; ; n -= 20 {
		_, err := s.Blocks().Update(s.t.Context(), c, host.BlockUpdate{Name: "archival", Content: strings.Repeat("x", n)})
		if err == nil {
			return
		}
		if !errors.Is(err, abi.QuotaExceeded) || n <= 20 {
			s.t.Fatal(err)
		}
	}
}

// turn performs a turn and returns the warnings of the turn. The turn must succeed.
func (s *sleeper) turn(text string) []string {
	s.t.Helper()
	result, err := s.Agents().Turn(s.t.Context(), host.Turn{Agent: "Echo", Caller: annInS1, Message: &text})
	if err != nil {
		s.t.Fatal(err)
	}
	return result.Warnings
}

// TestSleepAtQuota performs turns of a user who has no space left. The oldest messages of the
// transcript must be dropped. If the messages of a turn do not fit, the turn must succeed with a
// warning, and the transcript must be unchanged. The result must depend neither on the space of
// other users nor on the number of scheduled runs.
func TestSleepAtQuota(t *testing.T) {
	var watch unrecorded
	s := openSleeper(t, sleepFiles("tool: dream", `return [{block: "core", scope: "agent",
		content: input.dropped + " " + input.transcript.map(m => m.role[0] + m.content.length).join(" ")}]`), func(o *host.Options) {
		o.Memory, o.Observers = memory.Limits{AppBytes: 1 << 20, UserBytes: 9_000}, []host.Observer{&watch}
	})
	s.turn(strings.Repeat("a", 1000))
	s.fill("ann")
	warned := func(warnings []string) bool {
		return slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "storage quota") })
	}
	if warnings := s.turn(strings.Repeat("b", 500)); warned(warnings) {
		t.Errorf("the warnings are %q; want none about the quota", warnings)
	}
	if warnings := s.turn(strings.Repeat("c", 5000)); !warned(warnings) {
		t.Errorf("the warnings are %q; want one about the quota", warnings)
	}
	if want := []int{0, 0, 2}; !slices.Equal(watch.counts, want) {
		t.Errorf("the numbers of unrecorded messages are %v; want %v", watch.counts, want)
	}
	long := []host.Message{{Role: "user", Content: strings.Repeat("d", 5000)}}
	if _, err := s.Sessions().AddMessages(t.Context(), annInS1, long); !errors.Is(err, abi.QuotaExceeded) {
		t.Errorf("AddMessages = %v; want quota_exceeded", err)
	}
	if _, err := s.Blocks().Delete(t.Context(), host.Caller{User: "ann"}, host.BlockUpdate{Name: "archival", Expected: block.Expected{Exists: true}}); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.wantPass(oneRun)
	s.wantBlock(annAndEcho, "core", true, "2 u500 a509")
}

// If the first messages of a session do not fit, no run must be scheduled.
func TestSleepAtQuotaOfNewSession(t *testing.T) {
	s := openSleeper(t, sleepFiles("tool: dream", "return []"), func(o *host.Options) {
		o.Memory = memory.Limits{AppBytes: 1 << 20, UserBytes: 6_000}
	})
	s.fill("ann")
	_, err := s.Sessions().AddMessages(t.Context(), annInS1, []host.Message{{Role: "user", Content: strings.Repeat("d", 1000)}})
	if !errors.Is(err, abi.QuotaExceeded) {
		t.Errorf("AddMessages = %v; want quota_exceeded", err)
	}
	if status, err := s.Sleep().Status(t.Context(), host.Caller{}); err != nil || status != (host.SleepStatus{}) {
		t.Errorf("Status = %+v, %v; want nothing", status, err)
	}
}
