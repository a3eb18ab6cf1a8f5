package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
)

// tracer prints the memory calls of a run to stderr. tracer prints stores and revisions, but no
// content.
type tracer struct {
	host.NopObserver
	out *console
}

var _ host.Observer = tracer{}

// MemoryCalled prints a memory call with its duration and its outcome.
func (t tracer) MemoryCalled(_ context.Context, run host.RunInfo, e host.CallEvent) {
	outcome := "ok"
	if e.Err != nil {
		outcome = "stopped"
		if f, ok := errors.AsType[*abi.Fault](e.Err); ok {
			outcome = string(f.Code)
		}
	}
	t.line("attempt %d  %10s  %s %s  %s", run.Attempt, inMilliseconds(e.Duration), e.Call.Op, shortened(string(e.Call.Arg(0))), outcome)
}

// RunEnded prints the outcome of the run.
func (t tracer) RunEnded(_ context.Context, run host.RunInfo, result *report.Result) {
	outcome := "stored"
	switch {
	case result.Status == report.Paused:
		outcome = "paused until an approval, stored nothing"
	case !result.OK:
		outcome = "failed, stored nothing"
	case result.Repeated:
		outcome = "result of an earlier run"
	case len(result.Effects.Writes) == 0:
		outcome = "done, nothing to store"
	case result.Changes != nil:
		outcome = "done, stored nothing (dry run)"
	}
	t.line("run %s  %s  %s  %s CPU  %s", run.ID, outcome, inMilliseconds(duration(result.Usage.WallMS)),
		inMilliseconds(duration(result.Usage.CPUMS)), count(result.Attempts, "attempt"))
	for _, r := range result.Effects.Reads {
		t.line("  read   %s, revision %d", recordName(r.Store, r.Item), r.Revision)
	}
	for _, w := range result.Effects.Writes {
		t.line("  %-6s %s, revision %d", w.Op, recordName(w.Store, w.Item), w.Revision)
	}
}

func (t tracer) line(format string, args ...any) {
	t.out.note(dim, "trace: ", fmt.Sprintf(format, args...))
}

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

func inMilliseconds(d time.Duration) string {
	return fmt.Sprintf("%.3f ms", float64(d)/float64(time.Millisecond))
}

// shortened truncates a store name that a guest passed.
func shortened(text string) string {
	const maxBytes = 80
	if len(text) > maxBytes {
		return strings.ToValidUTF8(text[:maxBytes], "") + "..."
	}
	return text
}
