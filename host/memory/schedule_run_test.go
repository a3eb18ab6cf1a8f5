package memory_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn/txntest"
)

// The runs of a scenario execute random programs. Some additional runs execute programs that cause
// rare situations.

func (s *scenario) addRun(p program) {
	h := &runHistory{name: fmt.Sprintf("run %d", len(s.runs)), caller: choose(s.Rand, palette...), program: p, clock: s.clock}
	h.caller.Tenant, h.caller.Run = s.tenant, fmt.Sprintf("%s-%d", s.tenant, len(s.runs))
	s.runs = append(s.runs, h)
	host := s.hosts[s.Rand.IntN(len(s.hosts))]
	h.task = s.Go(h.name, func(ctx context.Context, _ *txntest.Task) {
		h.begin = s.Step()
		h.done, h.err = host.Transact(ctx, &memory.Tx{Caller: h.caller, Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
			return h.execute(ctx, s, v)
		})
		h.end = s.Step()
		if len(h.attempts) > 0 && h.done.Attempts == len(h.attempts) {
			h.attempts[len(h.attempts)-1].end = s.Step()
		}
	})
	h.task.OnRead, h.task.OnUpdate = h.onRead, h.onUpdate
}

// onRead records the records that an attempt has read.
func (h *runHistory) onRead(want []storage.Key, found []storage.Record) {
	if h.seen == nil {
		return // the first attempt has not begun
	}
	for i, r := range found {
		h.changed = h.changed || h.sawOther(want[i], r)
		h.seen[want[i]] = r
	}
}

// onUpdate detects stale reads: A record that the update writes has changed since the attempt read
// it.
func (h *runHistory) onUpdate(now []storage.Head, writes []storage.Write) {
	for _, r := range now {
		written := slices.ContainsFunc(writes, func(w storage.Write) bool { return w.Record.Key == r.Key })
		h.changed = h.changed || written && h.sawOther(r.Key, r.Record)
	}
}

// sawOther reports whether the attempt read a version of the record that differs from the version
// r. If r is the zero Record, the result is false.
func (h *runHistory) sawOther(key storage.Key, r storage.Record) bool {
	was, ok := h.seen[key]
	return ok && r.Exists() && !was.SameVersion(r)
}

// execute executes one attempt of a run.
func (h *runHistory) execute(ctx context.Context, s *scenario, v *memory.View) error {
	if h.seen == nil {
		h.task.Fault = h.fault // makes the first commit fail, but no update before this commit
	}
	h.seen, h.changed = map[storage.Key]storage.Record{}, false
	seen := attempt{begin: s.Step(), stamp: v.Now(), at: h.clock.Now()}
	h.task.Yield()
	trace, err := h.program.run(func(op string, args []string) (string, abi.Code, error) {
		reply, err := v.Call(ctx, call(op, args...))
		if err == nil {
			h.task.Yield()
			return canonical(reply), "", nil
		}
		if f, ok := err.(*abi.Fault); ok {
			return "", f.Code, nil
		}
		seen.torn = true
		return "", "", err
	})
	seen.trace, seen.end = trace, s.Step()
	h.attempts = append(h.attempts, seen)
	return err
}

// setStep, getStep and digestStep return steps of the following programs.
func setStep(store, content string) step {
	return step{op: abi.SetContent, args: []string{quoted(store), content}, catch: true}
}

func getStep(store string) step {
	return step{op: abi.GetContent, args: []string{quoted(store), "", `{"record":true}`}}
}

// digestStep stores a digest of all previous results. Therefore the records at the end depend on
// these results.
func digestStep(store string) step {
	return step{op: abi.SetContent, args: []string{quoted(store), `{"c":null}`}, digest: true, catch: true}
}

func quoted(name string) string { return `"` + name + `"` }

func (s *scenario) addPrograms(all ...[]step) {
	for _, steps := range all {
		s.addRun(program{steps: steps})
	}
}

// addSuccessors adds runs that remove a record and then create a new record under the same key. If
// the Service had an error, the new record could have the same revision as the removed record.
func (s *scenario) addSuccessors(store, other string) {
	s.addPrograms(
		[]step{{op: abi.DeleteContent, args: []string{quoted(store)}}},
		[]step{setStep(store, randomContent(s.Rand))},
		choose(s.Rand, []step{getStep(store), digestStep(other)}, []step{setStep(store, randomContent(s.Rand))}),
	)
}

// addBlindMerges adds several merges. The result of each single merge matches the schema, but the
// result of all merges does not.
func (s *scenario) addBlindMerges() {
	s.addPrograms(
		[]step{setStep("prefs", `{"b":1}`), digestStep("flags")},
		[]step{setStep("prefs", `{"c":1}`), digestStep("flags")},
	)
}

// addLateRead adds two runs. The first run merges into a record and then reads the record. The
// second run changes the record between the merge and the read.
func (s *scenario) addLateRead(store, other string) {
	s.addPrograms(
		[]step{setStep(store, `{"a":1}`), getStep(other), getStep(store), digestStep(other)},
		[]step{setStep(store, `{"a":2}`), setStep(other, `{"a":2}`)},
	)
}

// addExpiry adds a run that reads a record shortly before the record expires.
func (s *scenario) addExpiry(other string) {
	s.advances = 15
	short := setStep("daily", `{"a":1}`)
	short.args = append(short.args, `{"ttl":"1m"}`)
	s.addPrograms([]step{short}, []step{getStep("daily"), digestStep(other)})
}
