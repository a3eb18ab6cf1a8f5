package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/txn"
)

// propertyTurns is the number of turns of TestTurnsEqualTheReference.
const propertyTurns = 10_000

// fate determines what a call to a tool does. The fields contain the number of writes of the call,
// and the code of its fault. If the call succeeds, the code is "".
type fate struct {
	writes int
	code   abi.Code
}

// lost is the code of a fate after which the host cannot continue the turn.
const lost abi.Code = "lost"

// killedBy contains one message for each code of a fault. If the sandbox kills a tool, the call
// fails with a fault that has this code and message.
var killedBy = map[abi.Code]string{
	abi.MemoryLimit: "the tool exceeded its memory limit (64MiB)", abi.StackLimit: "the tool exceeded the stack limit",
	abi.Timeout: "the run exceeded its time limit (5s)", abi.Internal: "the tool's process exited unexpectedly; see the host's log",
}

// TestTurnsEqualTheReference performs random turns of random agents. The turns use real
// transactions. After each turn, the messages and all stored data must equal the results of the
// reference interpreter. Some calls to tools fail, some tools are killed, and other transactions
// change facts, all at random. A stub answers all requests to models. A failed turn must change
// nothing.
func TestTurnsEqualTheReference(t *testing.T) {
	want := propertyTurns
	if testing.Short() {
		want /= 10
	}
	counts := map[string]int{}
	for seed := uint64(1); counts["turns"] < want; seed++ {
		s := newSimulation(t, seed)
		if s == nil {
			counts["rejected agents"]++
			continue
		}
		for range 25 {
			if s.turn(counts); t.Failed() {
				return
			}
		}
	}
	t.Log(counts)
	for _, kind := range []string{"failed turns", "failed tools", "repeated attempts", "blocked", "handoffs", "waits", "done", "expired",
		"killed tools", "transformed items", "returns", "extracted fields", "chosen intents", "free answers", "excused handoffs", "collected jumps"} {
		if counts[kind] < want/200 {
			t.Errorf("only %d %s in %d turns; the agents are too simple", counts[kind], kind, want)
		}
	}
	if counts["rejected agents"] > want/25 {
		t.Errorf("%d agents were rejected", counts["rejected agents"])
	}
}

// simulation performs each turn twice: with the package agent, and with the reference interpreter.
type simulation struct {
	*generator
	t       *testing.T
	source  string
	set     *agent.Set
	agents  map[string]*refAgent
	db      *txn.DB
	backend storage.Backend
	now     time.Time
	world   *refWorld
	log     []string
	seen    map[string]int // the number of actions of each kind
}

// newSimulation returns a simulation with two random agents. If the agents do not compile,
// newSimulation returns nil.
func newSimulation(t *testing.T, seed uint64) *simulation {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	s := &simulation{generator: g, t: t, agents: map[string]*refAgent{}, backend: mem.New(), now: time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)}
	var docs []*abl.Document
	for _, name := range []string{"A", "B"} {
		g.steps = nil
		s.agents[name] = g.agent(name)
		source := s.agents[name].source()
		s.source += source
		d, problems := abl.Parse(name+".abl", []byte(source))
		if err := problems.Err(); err != nil {
			if !loops(problems) {
				t.Fatalf("seed %d\n%s\n%v", seed, source, err)
			}
			return nil
		}
		docs = append(docs, d)
	}
	var problems problem.List
	if s.set, problems = agent.Compile(docs, []agent.Tool{{Name: "t0"}, {Name: "t1"}}); problems.Err() != nil {
		if !loops(problems) {
			t.Fatalf("seed %d\n%s\n%v", seed, s.source, problems.Err())
		}
		return nil
	}
	s.db = txn.New(txn.Config{Backend: s.backend, Now: func() time.Time { return s.now }})
	s.world = &refWorld{now: s.now, facts: map[string]refFact{}, kept: map[string]map[string]any{}, sessions: map[string]*refSession{}}
	s.log = append(s.log, fmt.Sprintf("seed %d", seed))
	return s
}

// loops reports whether all errors are about cyclic steps or cyclic handoffs.
func loops(problems problem.List) bool {
	return !slices.ContainsFunc(problems, func(p problem.Problem) bool { return p.Severity == problem.Error && p.Code != problem.Loop })
}

// turn performs a random turn with both interpreters, and compares their results.
func (s *simulation) turn(counts map[string]int) {
	if s.chance(15) {
		s.now = s.now.Add(time.Duration(s.IntN(150)) * time.Minute)
	}
	user, session := pick(s.generator, []string{"ann", "ann", "bob"}), strconv.Itoa(s.IntN(2))
	session = user + session
	request := agent.Request{}
	if s.chance(85) {
		request.Message, request.HasMessage = pick(s.generator, genInputs), true
	}
	if request.HasMessage && s.waits(session) && s.chance(40) {
		request.Message = pick(s.generator, genPhrases)
	}
	if s.world.sessions[session] == nil || s.chance(5) {
		request.Agent = "A"
	}
	fates := s.fates()
	disturb := s.chance(5)
	s.log = append(s.log, fmt.Sprintf("%s %s agent %q message %q (%v) fates %v %v disturb %v", s.now.Format(time.TimeOnly), session, request.Agent, request.Message, request.HasMessage, fates.tools[:4], fates.models[:2], disturb))

	before := s.dump()
	outcome, attempts, err := s.real(user, session, request, fates, disturb)
	want, failed := s.reference(user, session, request, fates, disturb)
	counts["turns"]++
	s.count(counts, want, failed, attempts)
	if failed == "" {
		for kind, n := range s.seen {
			counts[kind] += n
		}
	}
	if (err != nil) != (failed != "") {
		s.fail("error = %v; the reference fails with %q", err, failed)
		return
	}
	if err != nil {
		after := s.dump()
		if disturb {
			delete(before, string(s.env(nil, user, session, nil).factKey("project.g0")))
			delete(after, string(s.env(nil, user, session, nil).factKey("project.g0")))
		}
		if !reflect.DeepEqual(before, after) {
			s.fail("a turn that failed changed\n%v\nto\n%v", before, after)
		}
		return
	}
	s.compareOutcome(outcome, want)
	s.compareStored(user, session, counts)
}

// waits reports whether the agent that answers in the session is waiting for input.
func (s *simulation) waits(session string) bool {
	state := s.world.sessions[session]
	return state != nil && state.active != "" && state.agents[state.active].wait != nil
}

// fates determines what each tool and each model does in a turn.
type fates struct {
	tools  []fate
	models []modelFate
}

func (s *simulation) fates() fates {
	f := fates{tools: make([]fate, txn.MaxNested), models: make([]modelFate, agent.MaxModelCalls)}
	for i := range f.tools {
		switch f.tools[i] = (fate{writes: 3}); {
		case s.chance(1):
			f.tools[i] = fate{s.IntN(4), lost}
		case s.chance(20):
			f.tools[i] = fate{s.IntN(4), pick(s.generator, []abi.Code{abi.ToolError, abi.OutputInvalid})}
		case s.chance(25):
			f.tools[i] = fate{s.IntN(4), pick(s.generator, slices.Sorted(maps.Keys(killedBy)))}
		}
	}
	for i := range f.models {
		f.models[i] = modelFate{broken: s.chance(5), seed: s.Uint64()}
		if s.chance(3) {
			f.models[i].code = abi.Unavailable
		}
	}
	return f
}

func (s *simulation) count(counts map[string]int, o refOutcome, failed string, attempts int) {
	for kind, ok := range map[string]bool{
		"failed turns": failed != "", "repeated attempts": attempts > 1, "blocked": o.blocked, "handoffs": o.handoff != "", "done": o.done, "waits": o.collecting != "",
	} {
		if ok {
			counts[kind]++
		}
	}
	counts["failed tools"] += s.world.failedTools
	s.world.failedTools = 0
}

func (s *simulation) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Errorf("%s\n%s\n%s", s.source, strings.Join(s.log, "\n"), fmt.Sprintf(format, args...))
}

// dump returns all stored data.
func (s *simulation) dump() map[string]string {
	all := map[string]string{}
	_, err := s.db.Run(context.Background(), txn.Options{ReadOnly: true, Live: func(storage.Record) txn.Life { return txn.Life{} }}, func(ctx context.Context, tx *txn.Tx) error {
		records, err := tx.Scan(ctx, appKey, "", 1000)
		for _, r := range records {
			all[string(r.Key)] = string(r.Content) + r.Expires.String()
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

func (s *simulation) env(tx *txn.Tx, user, session string, tool func(context.Context, *txEnv, string, map[string]any) (any, error)) *txEnv {
	paths := slices.Concat(genFacts, genTriggers, genLists)
	slices.Sort(paths)
	return &txEnv{tx: tx, now: s.now, random: rand.New(rand.NewPCG(1, 2)), user: user, session: session, paths: slices.Compact(paths), tool: tool}
}

// real performs the turn as a transaction. If the argument "disturb" is set, another transaction
// changes a fact during the first attempt of the turn.
func (s *simulation) real(user, session string, request agent.Request, fates fates, disturb bool) (*report.Outcome, int, error) {
	var outcome *report.Outcome
	attempts := 0
	_, err := s.db.Run(context.Background(), txn.Options{ID: "turn"}, func(ctx context.Context, tx *txn.Tx) (err error) {
		attempts++
		calls, chats := 0, 0
		e := s.env(tx, user, session, func(ctx context.Context, e *txEnv, name string, input map[string]any) (any, error) {
			calls++
			return runTool(ctx, e, name, input["x"], fates.tools[calls-1])
		})
		e.chat = func(request model.ChatRequest) (model.ChatAnswer, error) {
			chats++
			return fates.models[chats-1].answer(request)
		}
		outcome, err = s.set.Turn(ctx, e, request)
		if disturb && attempts == 1 {
			s.disturb()
		}
		return err
	})
	return outcome, attempts, err
}

// disturb changes a fact in another transaction.
func (s *simulation) disturb() {
	_, err := s.db.Run(context.Background(), txn.Options{ID: "other"}, func(ctx context.Context, tx *txn.Tx) error {
		return s.env(tx, "", "", nil).SetFact(ctx, "", "project.g0", 8.0, agent.FactOptions{})
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// runTool executes a tool. The tool counts its calls in one fact, and stores its input in two other
// facts.
func runTool(ctx context.Context, e *txEnv, name string, x any, f fate) (any, error) {
	n, _, err := e.Fact(ctx, "", "project.tool.n")
	if err != nil {
		return nil, err
	}
	count, _ := n.(float64)
	count++
	for i, write := range []struct {
		path  string
		value any
	}{{"project.tool.n", count}, {"user.f1", x}, {"project.g0", name}} {
		if i >= f.writes {
			break
		}
		if err := e.SetFact(ctx, "", write.path, write.value, agent.FactOptions{}); err != nil {
			return nil, err
		}
	}
	switch message, killed := killedBy[f.code]; {
	case f.code == lost:
		return nil, errors.New("the turn cannot continue, because it lost its slot")
	case killed:
		return nil, abi.Faultf(f.code, "%s", message)
	case f.code != "":
		return nil, abi.Faultf(f.code, "the tool fails after %d writes", f.writes)
	}
	return toolOutput(count, x), nil
}

// toolOutput returns the output of a tool.
func toolOutput(count float64, x any) any {
	return map[string]any{"n": count, "x": x, "items": []any{map[string]any{"k": count, "n": x}, map[string]any{"k": "b"}, map[string]any{"k": 2.0, "n": "a"}, "c"}}
}

// reference performs the turn with the reference interpreter.
func (s *simulation) reference(user, session string, request agent.Request, fates fates, disturb bool) (refOutcome, string) {
	s.world.now = s.now
	if disturb {
		s.world.facts["project.g0"] = refFact{value: 8.0}
	}
	w := s.world.clone()
	if w.sessions[session] == nil {
		w.sessions[session] = &refSession{agents: map[string]*refState{}}
	}
	s.seen = map[string]int{}
	t := &refTurn{w: w, agents: s.agents, user: user, session: w.sessions[session], seen: s.seen}
	t.model = func(n int) modelFate { return fates.models[n] }
	if request.HasMessage {
		t.message = &request.Message
	}
	calls := 0
	t.tool = func(t *refTurn, name string, x any) (any, string) {
		calls++
		f := fates.tools[calls-1]
		if f.code != "" {
			s.world.failedTools++
			if killedBy[f.code] != "" {
				s.seen["killed tools"]++
			}
			return nil, string(f.code)
		}
		n, _ := t.stored("project.tool.n")
		count, _ := n.(float64)
		t.w.facts["project.tool.n"] = refFact{value: count + 1}
		t.w.facts[user+"/user.f1"] = refFact{value: x}
		t.w.facts["project.g0"] = refFact{value: name}
		return toolOutput(count+1, x), ""
	}
	name := request.Agent
	if name == "" {
		name = t.session.active
	}
	if name == "" {
		name = "A"
	}
	failed := t.perform(name)
	if failed == "" {
		w.failedTools = s.world.failedTools
		s.world = w
	}
	return t.out, failed
}

// compareOutcome compares the results that are visible to the user.
func (s *simulation) compareOutcome(got *report.Outcome, want refOutcome) {
	g := refOutcome{got.Agent, deref(got.Step), deref(got.Collecting), deref(got.Handoff), got.Messages, got.Instructions, got.Done, got.Blocked, got.Escalate, got.Injected}
	want.messages, want.instructions = append([]string{}, want.messages...), append([]string{}, want.instructions...)
	if !reflect.DeepEqual(g, want) {
		trace, _ := json.MarshalIndent(got.Trace, "", " ")
		s.fail("the outcome is\n%+v; want\n%+v\n%s", g, want, trace)
	}
}

// compareStored compares the stored facts, variables and session with the data of the reference
// interpreter.
func (s *simulation) compareStored(user, session string, counts map[string]int) {
	_, err := s.db.Run(context.Background(), txn.Options{ReadOnly: true}, func(ctx context.Context, tx *txn.Tx) error {
		e := s.env(tx, user, session, nil)
		for _, path := range e.paths {
			got, ok, err := e.Fact(ctx, "", path)
			if err != nil {
				return err
			}
			f, known := s.world.facts[refOwner(user, path)]
			live := known && (f.expires.IsZero() || s.now.Before(f.expires))
			if known && !live {
				counts["expired"]++
			}
			if ok != live || ok && !reflect.DeepEqual(got, f.value) {
				s.fail("the fact %s is %v (stored: %v); want %v (%v)", path, got, ok, f.value, live)
			}
		}
		return s.compareStates(ctx, e, user, session)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *simulation) compareStates(ctx context.Context, e *txEnv, user, session string) error {
	want := s.world.sessions[session]
	got, err := e.Session(ctx)
	if err != nil {
		return err
	}
	if got.Active != want.active || len(got.Injected)+len(want.injected) > 0 && !reflect.DeepEqual(got.Injected, want.injected) {
		s.fail("the session is %+v; want active %s, injected %v", got, want.active, want.injected)
	}
	for name, st := range want.agents {
		state, err := e.State(ctx, name)
		if err != nil {
			return err
		}
		if state == nil || !reflect.DeepEqual(state.Variables, st.vars) || state.Step != st.step {
			s.fail("the state of %s is %+v; want %v at %s", name, state, st.vars, st.step)
			continue
		}
		s.compareWaiting(name, state, st)
		kept, err := e.Kept(ctx, name)
		if err != nil {
			return err
		}
		if kept != nil && !maps.EqualFunc(kept, s.world.kept[user+"/"+name], func(a, b any) bool { return reflect.DeepEqual(a, b) }) {
			s.fail("the kept variables of %s are %v; want %v", name, kept, s.world.kept[user+"/"+name])
		}
	}
	return nil
}

// compareWaiting compares the input for which a step waits. compareWaiting also compares the steps
// to which the conversation returns.
func (s *simulation) compareWaiting(name string, got *agent.State, want *refState) {
	waiting := agent.Waiting("")
	if want.wait != nil {
		waiting = agent.Waiting(want.wait.kind)
	}
	returns := make([]string, len(got.Returns))
	for i, r := range got.Returns {
		returns[i] = r.Step
	}
	if got.Waiting != waiting || !slices.EqualFunc(returns, want.returns, func(step string, r refReturn) bool { return step == r.step }) {
		s.fail("%s waits for %q and returns to %v; want %q and %v", name, got.Waiting, returns, waiting, want.returns)
	}
}
