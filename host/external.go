package host

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/journal"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/report"
)

// externalCall is a call that leaves the host.
type externalCall struct {
	// kind and target identify the receiver, such as the kind "chat" and the name of a model. body
	// is the canonical request.
	kind, target string
	body         []byte
	// The function "do" makes the call. If its context ends, it returns soon afterwards. If the
	// call fails, the fault is recorded like an answer. If the run is executed again and repeats
	// the call, it gets the recorded fault.
	do journal.Call
}

// externals makes the external calls of a run or a turn, and of its nested runs. The type externals
// also records the answers to external calls. All attempts of the run therefore get the same
// answers, and each call is made only once. While a run waits for an answer, it is parked. A parked
// run occupies no slot of the gate and holds no lock.
//
// One goroutine uses externals. The goroutines that make the calls use no fields except those that
// mu guards.
type externals struct {
	h       *Host
	job     *job // the job of the run or the turn, not of a nested run
	models  models
	journal *journal.Journal
	// The fields attempt, view and whole belong to the current attempt. whole is the context of
	// this attempt. Nested runs have their own contexts.
	attempt *journal.Attempt
	view    *memory.View
	whole   context.Context
	calls   int // in this attempt
	// stopped is the error that ended the run. A stopped run is not attempted again.
	stopped error
	// parked is true if the run has released its slot and has not yet acquired a slot again.
	parked bool

	// ctx ends when the run ends.
	ctx context.Context
	end context.CancelFunc

	mu       sync.Mutex
	usage    report.ModelUsage
	byTarget map[string]report.ModelUsage
	// vectors contains the vectors that the run has received. The field "erasures" is the number of
	// erasures that the cache of vectors had counted at the start of the run.
	vectors  map[model.VectorKey][]float32
	erasures uint64
}

// newExternals returns the externals of a job. The argument "runKey" is the idempotency key of the
// job. If the job has no key, runKey is the id of the job.
func newExternals(j *job, runKey string) *externals {
	x := &externals{h: j.h, job: j, journal: journal.New(runKey, journal.Limits{}), byTarget: map[string]report.ModelUsage{}}
	x.ctx, x.end = context.WithCancel(context.Background())
	return x
}

// begin begins an attempt. If the run cannot be executed again, begin returns the error that ends
// the run.
func (x *externals) begin(ctx context.Context, view *memory.View) error {
	x.whole, x.view, x.calls, x.models.answered = ctx, view, 0, nil
	if x.stopped != nil {
		return x.stopped
	}
	var err error
	if x.attempt, err = x.journal.Begin(); err != nil {
		x.stopped = &stop{abi.FaultOf(err)}
	}
	return x.stopped
}

// prepare counts a call and gives its request a number. If there are too many calls, prepare
// returns the fault call_limit, which ends the run.
func (x *externals) prepare(c externalCall) (*journal.Prepared, error) {
	if x.calls++; x.calls > x.h.limits.ExternalCalls {
		return nil, &stop{abi.Faultf(abi.CallLimit, "the run exceeded its limit of %d external calls, such as requests to models", x.h.limits.ExternalCalls).
			WithHint("make fewer requests to models and searches in a run, or raise ExternalCalls in the host's limits")}
	}
	return x.attempt.Prepare(journal.Request{Kind: c.kind, Target: c.target, Body: c.body}), nil
}

// make returns the journal's answer to a prepared call. If the journal has no answer yet, make
// makes the call. If the run ends during the call, the call is canceled.
func (x *externals) make(ctx context.Context, p *journal.Prepared, c externalCall) ([]byte, error) {
	answer, err := p.Do(ctx, func(ctx context.Context, key string) ([]byte, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(x.ctx, cancel)()
		return c.do(ctx, key)
	})
	return answer, x.classify(ctx, err)
}

// classify converts the error of an external call to the error that the guest gets.
func (x *externals) classify(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done() // the call has the same deadline as ctx, and can end slightly before ctx
	}
	if ctx.Err() != nil {
		return &stop{abi.FaultOf(engine.FaultFromContext(ctx))}
	}
	if conflict, ok := errors.AsType[*journal.ConflictError](err); ok {
		return &stop{abi.FaultOf(conflict)}
	}
	if fault, ok := err.(*abi.Fault); ok {
		return fault
	}
	x.h.log.Error("an external call failed with an error of the host", "error", err)
	return &stop{abi.FaultOf(err)}
}

// count adds the usage of a call to the usage of the run.
func (x *externals) count(target string, used report.ModelUsage) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.usage = x.usage.Plus(used)
	x.byTarget[target] = x.byTarget[target].Plus(used)
}

// used returns the usage of all calls that the run has made.
func (x *externals) used() report.ModelUsage {
	if x == nil {
		return report.ModelUsage{}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.usage
}

// targets returns the usage of each model, sorted by the name of the model.
func (x *externals) targets() []report.TargetUsage {
	x.mu.Lock()
	defer x.mu.Unlock()
	var all []report.TargetUsage
	for _, name := range slices.Sorted(maps.Keys(x.byTarget)) {
		all = append(all, report.TargetUsage{Model: name, ModelUsage: x.byTarget[name]})
	}
	return all
}

// orphans returns calls that earlier attempts made and that the last attempt did not repeat.
func (x *externals) orphans() []report.OrphanedCall {
	if x == nil {
		return nil
	}
	var orphans []report.OrphanedCall
	for _, key := range x.journal.Orphans() {
		orphans = append(orphans, report.OrphanedCall{Kind: key.Kind, Target: key.Target})
	}
	return orphans
}

// close is called when the run has ended. close cancels the calls that have no answer yet.
func (x *externals) close() {
	if x != nil {
		x.end()
	}
}
