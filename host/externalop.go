package host

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
)

// isExternal reports whether an operation makes an external call when a guest performs it.
func isExternal(op string) bool { return op == abi.ModelChat }

// external reports whether the tool can make external calls. A tool can make external calls if it
// was granted a model, or a collection that has a remote embedder.
func (t *tool) external() bool { return len(t.Models) > 0 || t.embeds }

// embedsWith reports whether grants include a collection whose embedder is not local.
func embedsWith(a *app.App, grants []declare.Grant) bool {
	for _, st := range a.Stores {
		if name := st.Collection.Embedding; name == "" || name == declare.Lexical {
			continue
		}
		if slices.ContainsFunc(grants, func(g declare.Grant) bool { return g.CoversStore(st.Name) }) {
			return true
		}
	}
	return false
}

// callExternal performs an external operation and returns the answer. The guest waits for the
// answer.
func (a *attempt) callExternal(ctx context.Context, call abi.Call) (json.RawMessage, error) {
	if _, err := a.beginCall(call); err != nil {
		return nil, err
	}
	_, reply, err := a.awaitCall(ctx, time.Time{})
	return reply, err
}

// beginCall begins an external operation for a guest; see engine.Host.Begin.
func (a *attempt) beginCall(call abi.Call) (id uint64, err error) {
	a.calls++
	a.begun++
	name, request, err := chatArguments(call, a.run.limits.ValueNesting)
	if err == nil {
		err = a.run.tool.checkModel(name)
	}
	if err != nil {
		a.waiting.addKnown(a.begun, nil, withOp(err, call.Op))
		return a.begun, nil
	}
	if err := a.checkApproval(call); err != nil {
		return 0, err
	}
	if a.waiting.x, err = externalsOf(a.ctx, &a.run.job, a.view); err != nil {
		return 0, err
	}
	return a.begun, a.waiting.x.addChat(&a.waiting, a.begun, name, request)
}

// withOp adds the name of the operation that failed to a fault.
func withOp(err error, op string) error {
	f, ok := err.(*abi.Fault)
	if !ok || f.Op != "" {
		return err
	}
	named := *f
	named.Op = op
	return &named
}

// awaitCall waits for the next answer to an external operation; see engine.Host.Await.
func (a *attempt) awaitCall(ctx context.Context, until time.Time) (id uint64, reply json.RawMessage, err error) {
	answer, err := a.waiting.next(ctx, until)
	if err != nil {
		return 0, nil, err
	}
	if answer.err != nil {
		return answer.id, nil, a.issue(withOp(answer.err, abi.ModelChat))
	}
	return answer.id, answer.content, nil
}

// externalsOf returns the external calls of a job. If the job has no externals yet, externalsOf
// creates them and begins their first attempt. The argument "ctx" is the context of the attempt.
func externalsOf(ctx context.Context, j *job, view *memory.View) (*externals, error) {
	if j.root != nil {
		j = j.root
	}
	if j.external != nil {
		return j.external, j.external.stopped
	}
	caller := j.info.Caller
	x := newExternals(j, runKey(j))
	if j.recorded != nil {
		x.journal = j.recorded
	}
	x.models = models{
		set: j.h.models, consumer: model.Consumer{Tenant: caller.Tenant, App: j.h.app.ID, User: caller.User},
		mocks: j.inv.Mocks, dry: j.inv.DryRun && !j.inv.Live, test: j.inv.Test, machine: j.machine,
	}
	if j.h.models != nil {
		x.erasures = j.h.models.Vectors().Erasures()
	}
	j.external = x
	return x, x.begin(ctx, view)
}

// runKey returns a key that identifies a job for the providers of models. A provider receives only
// a hash of this key. The key contains the user. Therefore, if two users use the same idempotency
// key, the hashes are different.
func runKey(j *job) string {
	if j.inv.Key == "" || j.inv.DryRun {
		return j.info.ID
	}
	caller := j.inv.Caller.as(j.info.ID)
	return strings.Join([]string{"key", caller.Tenant, j.h.app.ID, caller.User, j.inv.Key}, "\x00")
}

// beginExternal begins an attempt of a job that has made external calls. If the job cannot be
// executed again, beginExternal returns an error, and this error ends the job.
func beginExternal(ctx context.Context, j *job, view *memory.View) error {
	if j.external == nil {
		return nil
	}
	return j.external.begin(ctx, view)
}

// noteExternal adds the external calls of a job to its ledger entry.
func noteExternal(j *job, e *ledger.Entry) {
	if j.external != nil && e != nil {
		e.Models, e.Orphaned = j.external.targets(), j.external.orphans()
	}
}

// deadlineOf returns the deadline of the run. The time for which the run waits for external calls
// counts toward this deadline. The deadline is not shorter than the run's time limit, unless the
// tool declares a shorter deadline.
func deadlineOf(r *run) time.Duration {
	return cmp.Or(r.tool.Limits.Deadline, max(r.h.limits.Deadline, r.timeLimit()))
}

// limited returns a context that ends when the run exceeds its time limit.
func limited(ctx context.Context, r *run) (context.Context, context.CancelFunc) {
	if r.tool.external() {
		return startClock(ctx, r)
	}
	return r.bounded(ctx, r.timeLimit())
}

// startClock returns the context of a tool that can make external calls. The context ends at the
// deadline. If the computing time of the run reaches the time limit, the context ends earlier. The
// time for which the tool waits for answers does not count as computing time.
func startClock(ctx context.Context, r *run) (context.Context, context.CancelFunc) {
	root := cmp.Or(r.root, &r.job)
	limit := deadlineOf(r)
	late := abi.Faultf(abi.Timeout, "the run exceeded its deadline (%s)", limit).
		WithHint("raise limits.deadline of the tool, or the host's limit")
	ctx, cancel := context.WithDeadlineCause(ctx, r.started.Add(limit), late)
	if r.overtime == nil {
		r.overtime = abi.Faultf(abi.Timeout, "the run exceeded its time limit (%s)", r.timeLimit())
	}
	c := newClock(ctx, time.Until(r.started.Add(r.timeLimit())), r.overtime)
	root.clocks = append(root.clocks, c)
	if r.inv.Key != "" {
		c.pause()
		r.paused = c
	}
	return c, func() {
		root.clocks = root.clocks[:len(root.clocks)-1] // nested runs end before their parent
		c.stop()
		cancel()
	}
}
