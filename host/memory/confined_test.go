package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/session"
)

// Every use of a session checks the caller. A confined caller can use only the sessions of its own
// user. For any other session id, the caller gets a fault. The fault is the same for all these ids.
func TestConfinedCallers(t *testing.T) {
	ctx := t.Context()
	a := newApp(t)
	a.must(caller("", "visitor"), abi.SetContent, `"cart"`, `{"a":1}`)
	a.must(caller("ann", "of-ann"), abi.SetContent, `"cart"`, `{"a":1}`)
	a.must(caller("ann", "over"), abi.SetContent, `"cart"`, `{"a":1}`)
	if _, err := a.Sessions().End(ctx, caller("", "over")); err != nil {
		t.Fatal(err)
	}
	a.must(caller("bob", "of-bob"), abi.SetContent, `"cart"`, `{"a":1}`)
	transact := func(tx memory.Tx) error {
		_, err := a.Transact(ctx, &tx, func(ctx context.Context, v *memory.View) error {
			_, err := v.Call(ctx, call(abi.GetContent, `"cart"`))
			return err
		})
		return err
	}
	uses := map[string]func(partition.Caller) error{
		"start": func(c partition.Caller) error { _, err := a.Sessions().Start(ctx, c, session.Start{}); return err },
		"metadata": func(c partition.Caller) error {
			_, err := a.Sessions().Start(ctx, c, session.Start{Metadata: json.RawMessage(`{"a":1}`)})
			return err
		},
		"run": func(c partition.Caller) error { return transact(memory.Tx{Caller: c, Authority: memory.Operator()}) },
		"dry run": func(c partition.Caller) error {
			return transact(memory.Tx{Caller: c, Authority: memory.Operator(), DryRun: true})
		},
		"read-only": func(c partition.Caller) error {
			return transact(memory.Tx{Caller: c, Authority: memory.Operator(), ReadOnly: true})
		},
		"perform": func(c partition.Caller) error {
			_, _, err := a.Do(ctx, c, memory.Operator(), call(abi.GetContent, `"cart"`))
			return err
		},
		"session": func(c partition.Caller) error { _, err := a.Sessions().Get(ctx, c); return err },
		"files":   func(c partition.Caller) error { _, err := a.Artifacts().List(ctx, c); return err },
		"add file": func(c partition.Caller) error {
			_, err := a.Artifacts().Add(ctx, c, artifact.Upload{ID: "f1", Content: []byte("x")})
			return err
		},
		"activate": func(c partition.Caller) error { _, err := a.Artifacts().SetActive(ctx, c, "f1", true); return err },
		"remove":   func(c partition.Caller) error { _, err := a.Artifacts().Remove(ctx, c, "f1"); return err },
	}
	uses["end"] = func(c partition.Caller) error {
		if c.Session == "of-bob" {
			return nil // later tests need this file
		}
		_, err := a.Sessions().End(ctx, c)
		return err
	}
	for name, use := range uses {
		texts := map[string]bool{}
		for _, session := range []string{"visitor", "of-ann", "over", "none"} {
			c := caller("bob", session)
			c.Confined = true
			err := use(c)
			if !errors.Is(err, abi.AccessDenied) {
				t.Errorf("%s in the session %s = %v; want access_denied", name, session, err)
				continue
			}
			texts[err.Error()+abi.FaultOf(err).Hint] = true
		}
		if len(texts) != 1 {
			t.Errorf("%s fails with %d messages; want one", name, len(texts))
		}
		own := caller("bob", "of-bob")
		own.Confined = true
		if err := use(own); err != nil && !errors.Is(err, abi.NotFound) { // not_found, because the file does not exist
			t.Errorf("%s in the user's own session = %v", name, err)
		}
	}
	if _, err := a.Sessions().Get(ctx, caller("", "none")); !errors.Is(err, abi.NotFound) {
		t.Errorf("a refused use started a session: %v", err)
	}
	if s, err := a.Sessions().Get(ctx, caller("", "visitor")); err != nil || s.User != "" || string(s.Metadata) != "{}" {
		t.Errorf("a refused use changed the visitor's session: %+v, %v", s, err)
	}
	everywhere := partition.Caller{Tenant: "acme", User: "bob", Run: "r", Confined: true}
	a.must(everywhere, abi.SetContent, `"notes"`, `{}`) // a call without a session does not bind a session to the user
}

// A URL path must be able to contain a session id without encoding.
func TestSessionIDs(t *testing.T) {
	a := newApp(t)
	for id, good := range map[string]bool{
		"s1": true, "sess_01": true, "a.b~c:d@e=f+g-h": true, "..a": true, strings.Repeat("x", partition.MaxSessionID): true,
		".": false, "..": false, "...": false, "a/b": false, "a b": false, "a%2e": false, "é": false, "\x00": false,
		strings.Repeat("x", partition.MaxSessionID+1): false,
	} {
		_, err := a.Sessions().Start(t.Context(), caller("ann", id), session.Start{})
		if good != (err == nil) || !good && !errors.Is(err, abi.InvalidArgument) {
			t.Errorf("start of the session %q = %v; want success: %t", id, err, good)
		}
	}
}
