package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// transactAs performs one call in a transaction.
func (a *app) transactAs(ctx context.Context, tx memory.Tx, call abi.Call) error {
	_, err := a.Transact(ctx, &tx, func(ctx context.Context, v *memory.View) error {
		_, err := v.Call(ctx, call)
		return err
	})
	return err
}

// withoutRights returns several functions that call memory without rights. Most of the functions
// omit an argument or a field.
func (a *app) withoutRights(ctx context.Context) map[string]func(abi.Call) error {
	in := func(tx memory.Tx) func(abi.Call) error {
		return func(call abi.Call) error { return a.transactAs(ctx, tx, call) }
	}
	return map[string]func(abi.Call) error{
		"a zero View":        func(call abi.Call) error { _, err := new(memory.View).Call(ctx, call); return err },
		"a zero Tx":          in(memory.Tx{Caller: ann}),
		"a read-only Tx":     in(memory.Tx{Caller: ann, ReadOnly: true}),
		"a dry-run Tx":       in(memory.Tx{Caller: ann, DryRun: true}),
		"nil grants":         in(memory.Tx{Caller: ann, Authority: memory.Granted(nil)}),
		"empty grants":       in(memory.Tx{Caller: ann, Authority: memory.Granted([]declare.Grant{})}),
		"a zero Grant":       in(memory.Tx{Caller: ann, Authority: memory.Granted(make([]declare.Grant, 1))}),
		"reads of nothing":   in(memory.Tx{Caller: ann, Authority: memory.ReadOnly(memory.Authority{})}),
		"a zero Authority":   func(call abi.Call) error { _, _, err := a.Do(ctx, ann, memory.Authority{}, call); return err },
		"a zero one in a Tx": func(call abi.Call) error { return a.callWithNothing(ctx, call) },
	}
}

// callWithNothing performs a call in an operator's transaction. The call itself has no rights.
func (a *app) callWithNothing(ctx context.Context, call abi.Call) error {
	_, err := a.Transact(ctx, &memory.Tx{Caller: ann, Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
		_, err := v.CallWith(ctx, memory.Authority{}, call)
		return err
	})
	return err
}

// A zero value has no rights. With a zero value, every operation on every store fails with the same
// message. The message is the same for declared, built-in and unknown stores.
func TestZeroValuesReachNothing(t *testing.T) {
	a := newApp(t)
	names := []string{declare.SessionMeta, "undeclared"}
	for _, s := range stores() {
		names = append(names, s.Name)
		content := `{"language":"en"}`
		if s.Name == "list" {
			content = `["en"]`
		}
		a.must(ann, abi.SetContent, strconv.Quote(s.Name), content)
	}
	for way, call := range a.withoutRights(t.Context()) {
		texts := map[string]bool{}
		for _, op := range abi.Documents() {
			for _, name := range names {
				err := call(abi.Call{Op: op.Name, Args: args(strconv.Quote(name), `{"language":"de"}`)})
				f, ok := errors.AsType[*abi.Fault](err)
				if !ok || f.Code != abi.NotFound {
					t.Errorf("%s: %s(%s) = %v; want not_found", way, op.Name, name, err)
					continue
				}
				texts[strings.ReplaceAll(f.Message+" "+f.Hint, name, "NAME")] = true
			}
		}
		if len(texts) != 1 {
			t.Errorf("%s fails with %d messages; want one: %v", way, len(texts), texts)
		}
	}
	a.want(ann, `"notes"`, `{"language":"en"}`)
}

// Even for an operator, a Service has only the stores in its configuration.
func TestZeroConfigHasNoStores(t *testing.T) {
	if _, err := memory.New(memory.Config{}); err == nil {
		t.Error("New of a zero Config succeeded; want an error")
	}
	s, err := memory.New(memory.Config{App: "shop", Backend: mem.New()})
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range abi.Documents() {
		_, _, err := s.Do(t.Context(), ann, memory.Operator(), abi.Call{Op: op.Name, Args: args(`"notes"`, `{}`)})
		if !errors.Is(err, abi.NotFound) {
			t.Errorf("%s without stores = %v; want not_found", op.Name, err)
		}
	}
}

// ReadOnly removes all verbs except "read" from an Authority. ReadOnly adds no verb.
func TestReadOnly(t *testing.T) {
	a := newApp(t)
	grants := []declare.Grant{
		{Store: "notes", Verbs: []abi.Verb{abi.Read, abi.Write, abi.Delete}}, {Store: "flags", Verbs: []abi.Verb{abi.Write}},
	}
	granted := memory.ReadOnly(memory.Granted(grants))
	everything := memory.ReadOnly(memory.Operator())
	tests := []struct {
		name      string
		authority memory.Authority
		op, store string
		code      abi.Code
	}{
		{"granted", granted, abi.GetContent, "notes", ""},
		{"granted", granted, abi.SetContent, "notes", abi.AccessDenied},
		{"granted", granted, abi.DeleteContent, "notes", abi.AccessDenied},
		{"granted", granted, abi.GetContent, "flags", abi.AccessDenied},
		{"granted", granted, abi.SetContent, "flags", abi.AccessDenied},
		{"granted", granted, abi.GetContent, "prefs", abi.NotFound},
		{"operator", everything, abi.GetContent, "prefs", ""},
		{"operator", everything, abi.GetContent, declare.SessionMeta, ""},
		{"operator", everything, abi.SetContent, "prefs", abi.AccessDenied},
		{"operator", everything, abi.DeleteContent, "prefs", abi.AccessDenied},
	}
	for _, tt := range tests {
		_, _, err := a.Do(t.Context(), ann, tt.authority, call(tt.op, strconv.Quote(tt.store), `{}`))
		if tt.code == "" && err != nil || tt.code != "" && !errors.Is(err, tt.code) {
			t.Errorf("%s: %s(%s) = %v; want %q", tt.name, tt.op, tt.store, err, tt.code)
		}
	}
}

// If the caller of Granted modifies the grants later, the Authority does not change.
func TestGrantedCopies(t *testing.T) {
	a := newApp(t)
	grants := []declare.Grant{{Store: "notes", Verbs: []abi.Verb{abi.Read}}}
	authority := memory.Granted(grants)
	grants[0].Verbs[0] = abi.Write
	grants[0].Store = "flags"
	for store, code := range map[string]abi.Code{"notes": abi.AccessDenied, "flags": abi.NotFound} {
		_, _, err := a.Do(t.Context(), ann, authority, abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(strconv.Quote(store)), json.RawMessage(`{}`)}})
		if !errors.Is(err, code) {
			t.Errorf("set_content(%s) = %v; want %s", store, err, code)
		}
	}
}
