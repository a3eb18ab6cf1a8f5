package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/variables"
	"github.com/toolrun/toolrun/host/partition"
)

// withAgents returns an app that has some facts and the store for the state of agents.
func withAgents(t *testing.T) *app {
	return newApp(t, func(cfg *memory.Config) {
		cfg.Stores = append(cfg.Stores, declare.AgentStore(), declare.FactStore([]declare.Fact{
			{Path: "user.name", Default: json.RawMessage(`"guest"`)}, {Path: "user.secret"},
		}))
	})
}

// transactWithoutRights executes body in a transaction without rights.
func (a *app) transactWithoutRights(c partition.Caller, body func(context.Context, *memory.View) error) (memory.Done, error) {
	return a.Transact(context.Background(), &memory.Tx{Caller: c}, body)
}

// When a session ends, the state of its agents is removed. Variables that are never reset belong to
// the user and are kept.
func TestAgentState(t *testing.T) {
	a := withAgents(t)
	items := map[string]string{"booking": `{"a":1}`, variables.Session: `{"active":"booking"}`, variables.Kept("booking", true): `{"k":1}`}
	done, err := a.transactWithoutRights(ann, func(ctx context.Context, v *memory.View) error {
		for item, state := range items {
			if err := v.SetAgentState(ctx, item, json.RawMessage(state)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(done.Effects.Writes) != 3 || done.Effects.Writes[0].Store != declare.Agents || done.Effects.Writes[0].Item == "" {
		t.Fatalf("Transact = %+v, %v; want three writes of the store agents", done.Effects, err)
	}
	a.wantState(ann, items)
	other := caller("ann", "s2")
	a.wantState(other, map[string]string{"booking": "", variables.Session: "", variables.Kept("booking", true): `{"k":1}`})
	a.wantState(caller("bob", "s3"), map[string]string{"booking": "", variables.Kept("booking", true): ""})
	if _, err := a.Sessions().End(context.Background(), ann); err != nil {
		t.Fatal(err)
	}
	if n := a.countRecords(declare.Agents); n != 1 {
		t.Errorf("%d records are left after the end of the session; want the kept variables", n)
	}
	a.clock.Advance(declare.KeptFor + time.Minute)
	a.wantState(caller("ann", "s4"), map[string]string{variables.Kept("booking", true): ""})
}

// wantState compares the stored states of some items with expected states. The expected state ""
// means that an item has no state.
func (a *app) wantState(c partition.Caller, want map[string]string) {
	a.t.Helper()
	_, err := a.transactWithoutRights(c, func(ctx context.Context, v *memory.View) error {
		for item, text := range want {
			if got, err := v.AgentState(ctx, item); err != nil || string(got) != text {
				a.t.Errorf("AgentState(%s) = %s, %v; want %q", item, got, err, text)
			}
		}
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *app) countRecords(store string) int {
	a.t.Helper()
	found, _, err := a.List(context.Background(), partition.Caller{Tenant: "acme"}, store, "", 100)
	if err != nil {
		a.t.Fatal(err)
	}
	return len(found)
}

// If a user is erased, the state of agents in the user's sessions is removed. The user's variables
// that are never reset are also removed.
func TestEraseAgentState(t *testing.T) {
	a := withAgents(t)
	for _, c := range []partition.Caller{ann, caller("bob", "s9")} {
		_, err := a.transactWithoutRights(c, func(ctx context.Context, v *memory.View) error {
			if err := v.SetAgentState(ctx, "booking", json.RawMessage("{}")); err != nil {
				return err
			}
			return v.SetAgentState(ctx, variables.Kept("booking", true), json.RawMessage("{}"))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	erased, err := a.Erase(context.Background(), ann)
	if err != nil || erased.Records != 2 || a.countRecords(declare.Agents) != 2 {
		t.Errorf("Erase = %+v, %v, %d records left; want the two records of ann erased", erased, err, a.countRecords(declare.Agents))
	}
}

// Guests and operators cannot perform operations on the state of agents. This state counts toward
// the quota.
func TestAgentStateIsTheHosts(t *testing.T) {
	a := withAgents(t)
	for _, op := range []string{abi.GetContent, abi.SetContent, abi.DeleteContent} {
		f := a.wantFault(abi.InvalidArgument, ann, op, `"agents"`, `{}`)
		if !strings.Contains(f.Hint, "only the host") {
			t.Errorf("the hint of %s is %q", op, f.Hint)
		}
	}
	large := json.RawMessage(`"` + strings.Repeat("x", memory.MaxAgentState) + `"`)
	_, err := a.transactWithoutRights(ann, func(ctx context.Context, v *memory.View) error { return v.SetAgentState(ctx, "booking", large) })
	if !errors.Is(err, abi.TooLarge) {
		t.Errorf("a state above the limit = %v; want too_large", err)
	}
	full := newApp(t, func(cfg *memory.Config) {
		cfg.Stores, cfg.Limits.UserBytes = append(cfg.Stores, declare.AgentStore()), 2000
	})
	_, err = full.transactWithoutRights(ann, func(ctx context.Context, v *memory.View) error {
		return v.SetAgentState(ctx, "booking", json.RawMessage("{}"))
	})
	if err != nil {
		t.Fatal(err)
	}
	state := json.RawMessage(`"` + strings.Repeat("x", 4000) + `"`)
	_, err = full.transactWithoutRights(ann, func(ctx context.Context, v *memory.View) error { return v.SetAgentState(ctx, "booking", state) })
	if !errors.Is(err, abi.QuotaExceeded) {
		t.Errorf("a state above the quota = %v; want quota_exceeded", err)
	}
}

// A nested body has its own Authority. If a nested body fails, the writes of the nested body are
// undone, but the other writes are kept.
func TestViewNested(t *testing.T) {
	a := withAgents(t)
	granted := memory.Granted([]declare.Grant{{Store: "notes", Verbs: []abi.Verb{abi.Read, abi.Write}}})
	_, err := a.transactWithoutRights(ann, func(ctx context.Context, v *memory.View) error {
		if _, err := v.Call(ctx, call(abi.GetContent, `"notes"`)); !errors.Is(err, abi.NotFound) {
			t.Errorf("a call without rights = %v; want not_found", err)
		}
		thrown := errors.New("thrown")
		for _, failure := range []error{thrown, nil} {
			err := v.Nested(ctx, granted, func(ctx context.Context) error {
				if _, err := v.Call(ctx, call(abi.SetContent, `"notes"`, `{"n":1}`)); err != nil {
					return err
				}
				return failure
			})
			if !errors.Is(err, failure) {
				t.Errorf("Nested = %v; want %v", err, failure)
			}
			got, err := v.CallWith(ctx, granted, call(abi.GetContent, `"notes"`))
			if want := map[error]string{thrown: "null", nil: `{"n":1}`}[failure]; err != nil || string(got) != want {
				t.Errorf("after %v the content is %s, %v; want %s", failure, got, err, want)
			}
		}
		short, cancel := context.WithCancel(ctx)
		err := v.Nested(ctx, granted, func(context.Context) error {
			cancel()
			_, err := v.Call(short, call(abi.GetContent, `"daily"`))
			return cmpErr(err, context.Canceled)
		})
		if err == nil {
			t.Error("Nested with a context that has ended = nil; want an error")
		}
		if _, err := v.CallWith(ctx, granted, call(abi.GetContent, `"notes"`)); err != nil {
			t.Errorf("a call after the end of a nested body's context = %v; want nil", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a.want(ann, `"notes"`, `{"n":1}`)
}

// cmpErr returns its first argument. If the first argument is nil, cmpErr returns its argument
// "other".
func cmpErr(err, other error) error {
	if err == nil {
		return other
	}
	return err
}

// If a nested body meets a conflict, the attempt also fails with the conflict. The number of nested
// bodies in an attempt is limited.
func TestViewNestedConflict(t *testing.T) {
	a := withAgents(t)
	a.must(ann, abi.SetContent, `"flags"`, `{"n":1}`)
	attempts := 0
	_, err := a.transactWithoutRights(ann, func(ctx context.Context, v *memory.View) error {
		attempts++
		for range 64 {
			err := v.Nested(ctx, memory.Operator(), func(ctx context.Context) error {
				if _, err := v.Call(ctx, call(abi.GetContent, `"flags"`)); err != nil {
					return err
				}
				if attempts == 1 {
					a.must(caller("bob", ""), abi.SetContent, `"flags"`, `{"n":2}`)
				}
				_, err := v.Call(ctx, call(abi.GetContent, `"notes"`))
				return err
			})
			if attempts == 1 {
				if err == nil || errors.Is(err, abi.Conflict) || v.Err() == nil {
					t.Errorf("Nested = %v, Err = %v; want an error that no guest can handle", err, v.Err())
				}
				return nil // an agent that handles a fault also ignores the error
			}
		}
		if err := v.Nested(ctx, memory.Operator(), func(context.Context) error { return nil }); !errors.Is(err, abi.CallLimit) {
			t.Errorf("the 65th nested body = %v; want call_limit", err)
		}
		return nil
	})
	if err != nil || attempts != 2 {
		t.Errorf("Transact = %v after %d attempts; want the conflict to repeat the attempt", err, attempts)
	}
}

// PeekFacts reads only the facts that its Authority allows. PeekFacts adds nothing to the read set.
func TestFactsOfAnAgent(t *testing.T) {
	a := withAgents(t)
	a.must(ann, abi.SetFact, `"user.secret"`, `"s"`)
	granted := memory.Granted([]declare.Grant{{Store: declare.Facts, Item: "user.name", Verbs: []abi.Verb{abi.Read}}})
	attempts := 0
	done, err := a.transactWithoutRights(ann, func(ctx context.Context, v *memory.View) error {
		attempts++
		if value, err := v.Fact(ctx, granted, "user.secret"); !errors.Is(err, abi.NotFound) || value != nil || abi.FaultOf(err).Item != "user.secret" {
			t.Errorf("Fact of a fact without a grant = %s, %v; want not_found", value, err)
		}
		values, err := v.PeekFacts(ctx, granted, []string{"user.secret", "user.name"})
		if err != nil || values[0] != nil || attempts == 1 && values[1] != nil {
			t.Errorf("PeekFacts = %s, %v; want nothing", values, err)
		}
		if attempts == 1 {
			a.must(ann, abi.SetFact, `"user.name"`, `"Ann"`)
		}
		return v.SetAgentState(ctx, "booking", json.RawMessage("{}"))
	})
	if err != nil || attempts != 1 || len(done.Effects.Reads) != 1 || done.Effects.Reads[0].Item != "user.name" || done.Effects.Reads[0].Revision != 0 {
		t.Errorf("Transact = %+v, %v after %d attempts; want one attempt with one read", done.Effects, err, attempts)
	}
	_, err = a.transactWithoutRights(ann, func(ctx context.Context, v *memory.View) error {
		value, err := v.Fact(ctx, granted, "user.name")
		if string(value) != `"Ann"` {
			t.Errorf("Fact = %s; want the stored value", value)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
