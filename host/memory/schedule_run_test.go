package memory_test

import (
	"context"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage"
)

// The runs of a scenario: random programs, and some that bring about what chance seldom does.

func (s *scenario) addRun(p program) {
	h := &runHistory{name: fmt.Sprintf("run %d", len(s.runs)), caller: one(s.rng, palette...), program: p, clock: s.clock}
	h.caller.Tenant, h.caller.Run = s.tenant, fmt.Sprintf("%s-%d", s.tenant, len(s.runs))
	s.runs = append(s.runs, h)
	host := s.hosts[s.rng.IntN(len(s.hosts))]
	h.actor = s.spawn(h.name, func(ctx context.Context, a *actor) {
		h.begin = s.now
		h.done, h.err = host.Transact(ctx, memory.Tx{Caller: h.caller, Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
			return h.execute(ctx, a, v)
		})
		h.end = s.now
		if len(h.attempts) > 0 && h.done.Attempts == len(h.attempts) {
			h.attempts[len(h.attempts)-1].end = s.now
		}
	})
}

// execute is one attempt of a run.
func (h *runHistory) execute(ctx context.Context, a *actor, v *memory.View) error {
	a.seen, a.writing, a.passed = map[storage.Key]storage.Record{}, true, false
	seen := attempt{begin: a.stage.now, stamp: v.Now(), at: h.clock.Now()}
	a.pause()
	trace, err := h.program.run(func(op string, args []string) (string, abi.Code, error) {
		reply, err := v.Call(ctx, call(op, args...))
		if err == nil {
			a.pause()
			return canonical(reply), "", nil
		}
		if f, ok := err.(*abi.Fault); ok {
			return "", f.Code, nil
		}
		seen.torn = true
		return "", "", err
	})
	seen.trace, seen.end = trace, a.stage.now
	h.attempts = append(h.attempts, seen)
	return err
}

// Short names for the steps of the programs below.
func setStep(store, content string) step {
	return step{op: abi.SetContent, args: []string{quoted(store), content}, catch: true}
}

func getStep(store string) step {
	return step{op: abi.GetContent, args: []string{quoted(store), "", `{"record":true}`}}
}

// digestStep stores what was seen, so that it shows in what is left.
func digestStep(store string) step {
	return step{op: abi.SetContent, args: []string{quoted(store), `{"c":null}`}, digest: true, catch: true}
}

func quoted(name string) string { return `"` + name + `"` }

func (s *scenario) addPrograms(all ...[]step) {
	for _, steps := range all {
		s.addRun(program{steps: steps})
	}
}

// addSuccessors adds runs after which a record may have the revision that it had, and yet be another one.
func (s *scenario) addSuccessors(store, other string) {
	s.addPrograms(
		[]step{{op: abi.DeleteContent, args: []string{quoted(store)}}},
		[]step{setStep(store, randomContent(s.rng))},
		one(s.rng, []step{getStep(store), digestStep(other)}, []step{setStep(store, randomContent(s.rng))}),
	)
}

// addBlindMerges adds merges that fit the schema one by one, and not together.
func (s *scenario) addBlindMerges() {
	s.addPrograms(
		[]step{setStep("prefs", `{"b":1}`), digestStep("flags")},
		[]step{setStep("prefs", `{"c":1}`), digestStep("flags")},
	)
}

// addLateRead adds a run that reads a record after it has merged into it, and one that changes it meanwhile.
func (s *scenario) addLateRead(store, other string) {
	s.addPrograms(
		[]step{setStep(store, `{"a":1}`), getStep(other), getStep(store), digestStep(other)},
		[]step{setStep(store, `{"a":2}`), setStep(other, `{"a":2}`)},
	)
}

// addExpiry adds a run that depends on a record whose time is soon over.
func (s *scenario) addExpiry(other string) {
	s.advances = 15
	short := setStep("daily", `{"a":1}`)
	short.args = append(short.args, `{"ttl":"1m"}`)
	s.addPrograms([]step{short}, []step{getStep("daily"), digestStep(other)})
}
