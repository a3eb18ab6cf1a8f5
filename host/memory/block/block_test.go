package block_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// blocks is a Service with a clock that the test controls.
type blocks struct {
	t *testing.T
	*memory.Service
	backend storage.Backend
	now     time.Time
}

// declared returns the blocks of the app.
func declared() []declare.Block {
	return append(declare.BuiltInBlocks(), declare.Block{Name: "style", Use: declare.BlockContext, Characters: 20, Entries: 2})
}

func open(t *testing.T) *blocks { t.Helper(); return openWith(t, func(*memory.Config) {}) }

// openWith opens a Service after the function "change" has changed the configuration.
func openWith(t *testing.T, change func(*memory.Config)) *blocks {
	t.Helper()
	b := &blocks{t: t, backend: mem.New(), now: time.Date(2026, 4, 30, 16, 20, 0, 0, time.UTC)}
	cfg := memory.Config{App: "shop", Backend: b.backend, Now: func() time.Time { return b.now }}
	for _, d := range declared() {
		cfg.Stores = append(cfg.Stores, d.Store())
	}
	change(&cfg)
	s, err := memory.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.Service = s
	return b
}

func as(user, agent string) partition.Caller {
	return partition.Caller{Tenant: "acme", User: user, Agent: agent, Run: "run_1"}
}

var (
	ann     = as("ann", "")
	annMail = as("ann", "emails")
	bob     = as("bob", "emails")
)

// call performs an operation under an Authority. call returns the reply, or the text of the fault.
func (b *blocks) call(c partition.Caller, a memory.Authority, op, args string) string {
	b.t.Helper()
	call := abi.Call{Op: op}
	if err := json.Unmarshal([]byte("["+args+"]"), &call.Args); err != nil {
		b.t.Fatal(err)
	}
	reply, _, err := b.Do(b.t.Context(), c, a, call)
	if fault, ok := errors.AsType[*abi.Fault](err); ok {
		return string(fault.Code) + ": " + fault.Message
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return string(reply)
}

// want performs a call of an operator and checks that the reply begins with the given text.
func (b *blocks) want(c partition.Caller, op, args, want string) {
	b.t.Helper()
	if got := b.call(c, memory.Operator(), op, args); !strings.HasPrefix(got, want) {
		b.t.Errorf("%s(%s) as %s, agent %q = %s; want %s", op, args, c.User, c.Agent, got, want)
	}
}

const stored = `{"success":true,"revision":`

func TestScopes(t *testing.T) {
	b := open(t)
	b.want(ann, abi.GetBlock, `"core"`, `null`)
	b.want(ann, abi.UpdateBlock, `"core", "of ann"`, stored)
	b.want(annMail, abi.UpdateBlock, `"core", "of ann's emails", {"agent": true}`, stored)
	b.want(bob, abi.UpdateBlock, `"core", "of bob's emails", {"agent": true}`, stored)
	b.want(bob, abi.GetBlock, `"core"`, `null`)
	b.want(annMail, abi.GetBlock, `"core"`, `{"id":"core","block_type":"core","content":"of ann","scope":"user","agent_id":null,`)
	b.want(annMail, abi.GetBlock, `"core", {"agent": true}`, `{"id":"core@emails","block_type":"core","content":"of ann's emails","scope":"agent","agent_id":"emails",`)
	b.want(bob, abi.GetBlock, `"core", {"agent": true}`, `{"id":"core@emails","block_type":"core","content":"of bob's emails"`)
	b.want(as("ann", "records"), abi.GetBlock, `"core", {"agent": true}`, `null`)
	b.want(ann, abi.GetBlock, `"core", {"agent": true}`, `no_agent: `)
	b.want(as("", "emails"), abi.GetBlock, `"core"`, `no_user: `)
	b.want(annMail, abi.DeleteBlock, `"core", {"agent": true, "expected_updated_at": "2026-04-30T16:20:00"}`, `{"success":true,"deleted":true}`)
	b.want(annMail, abi.GetBlock, `"core"`, `{"id":"core","block_type":"core","content":"of ann"`)
}

func TestVersions(t *testing.T) {
	b := open(t)
	b.want(ann, abi.UpdateBlock, `"core", "1"`, `{"success":true,"revision":1777566000000,"updated_at":"2026-04-30T16:20:00.000Z"}`)
	b.want(ann, abi.UpdateBlock, `"core", "2"`, `conflict: the block already exists`)
	b.want(ann, abi.UpdateBlock, `"core", "2", {"expected_updated_at": null}`, `conflict: the block already exists`)
	b.want(ann, abi.UpdateBlock, `"core", "2", {"expected_updated_at": "2026-04-30T16:19:59"}`, `conflict: the block has changed`)
	b.want(ann, abi.UpdateBlock, `"core", "2", {"if_revision": 0}`, `conflict: the block already exists`)
	b.want(ann, abi.UpdateBlock, `"core", "2", {"if_revision": 5}`, `conflict: the block has changed`)
	b.want(ann, abi.UpdateBlock, `"core", "2", {"if_revision": 1777566000000, "expected_updated_at": "2026-04-30T16:20:00"}`, `invalid_argument: the options name the expected version twice`)
	b.want(ann, abi.UpdateBlock, `"core", "2", {"if_revision": 0, "expected_updated_at": "2026-04-30T16:20:00"}`, `invalid_argument: the options name the expected version twice`)
	b.want(ann, abi.GetBlock, `"core"`, `{"id":"core","block_type":"core","content":"1"`)
	// If the clock stops or is set back, the time of the block must nevertheless increase with each
	// write.
	b.want(ann, abi.UpdateBlock, `"core", "2", {"expected_updated_at": "2026-04-30T16:20:00"}`, `{"success":true,"revision":1777566000001,"updated_at":"2026-04-30T16:20:00.001Z"}`)
	b.now = b.now.Add(-time.Hour)
	b.want(ann, abi.UpdateBlock, `"core", "3", {"expected_updated_at": "2026-04-30T18:20:00.001+02:00"}`, `{"success":true,"revision":1777566000002,`)
	b.want(ann, abi.UpdateBlock, `"core", "4", {"if_revision": 1777566000002}`, `{"success":true,"revision":1777566000003,`)
	b.want(ann, abi.DeleteBlock, `"core"`, `conflict: the block already exists`)
	b.want(ann, abi.DeleteBlock, `"core", {"if_revision": 1777566000003}`, `{"success":true,"deleted":true}`)
	b.want(ann, abi.DeleteBlock, `"core"`, `{"success":true,"deleted":false}`)
	b.want(ann, abi.UpdateBlock, `"core", "5", {"expected_updated_at": "2026-04-30T16:20:00.003"}`, `conflict: the block does not exist`)
	b.want(ann, abi.UpdateBlock, `"core", "5"`, `{"success":true,"revision":1777566000004,`)
	for _, bad := range []string{`"now"`, `1777566000000`, `""`, `true`} {
		b.want(ann, abi.UpdateBlock, `"core", "6", {"expected_updated_at": `+bad+`}`, `invalid_argument: the option "expected_updated_at" must be the updated_at of a block`)
	}
}

// TestFarFuture writes blocks with a clock in the far future. The times of these blocks must have a
// year of four digits. After the clock has been corrected, changes and deletions of these blocks
// must succeed.
func TestFarFuture(t *testing.T) {
	b := open(t)
	now := b.now
	b.now = time.Date(200_000, 1, 1, 0, 0, 0, 0, time.UTC)
	b.want(ann, abi.UpdateBlock, `"core", "1"`, `{"success":true,"revision":221845392000000,"updated_at":"9000-01-01T00:00:00.000Z"}`)
	b.want(ann, abi.UpdateBlock, `"core", "2", {"expected_updated_at": "9000-01-01T00:00:00.000Z"}`, `{"success":true,"revision":221845392000001,"updated_at":"9000-01-01T00:00:00.001Z"}`)
	b.now = now
	b.want(ann, abi.UpdateBlock, `"core", "3", {"expected_updated_at": "9000-01-01T00:00:00.001"}`, `{"success":true,"revision":221845392000002,`)
	b.want(ann, abi.DeleteBlock, `"core", {"if_revision": 221845392000002}`, `{"success":true,"deleted":true}`)
	b.want(ann, abi.UpdateBlock, `"core", "4"`, `{"success":true,"revision":221845392000003,`)
	b.want(bob, abi.UpdateBlock, `"archival", "5"`, `{"success":true,"revision":1777566000000,`)
}

func TestLimits(t *testing.T) {
	b := open(t)
	text := func(characters int) string { return strings.Repeat("ä", characters) }
	entries := func(n int) string { return strings.Repeat(`- x\n\n`, n) }
	for _, test := range []struct{ name, content, want string }{
		{"core", text(4000), stored}, {"core", text(4001), "too_large: the block core would have 4001 characters; the limit is 4000"},
		{"core", entries(20), stored}, {"core", entries(21), "too_large: the block core would have 21 entries; the limit is 20"},
		{"archival", text(8000), stored}, {"archival", text(8001), "too_large: "}, {"archival", entries(1000), stored},
		{"style", `- a\n- b`, stored}, {"style", `a\nb\nc`, "too_large: "}, {"style", text(21), "too_large: "}, {"style", "", stored},
	} {
		user := fmt.Sprint(test.name, len(test.content))
		b.want(as(user, ""), abi.UpdateBlock, `"`+test.name+`", "`+test.content+`"`, test.want)
		if test.want != stored {
			b.want(as(user, ""), abi.GetBlock, `"`+test.name+`"`, "null")
		}
	}
	for _, bad := range []string{`null`, `7`, `["a"]`, `{}`} {
		b.want(ann, abi.UpdateBlock, `"core", `+bad, `invalid_argument: the content of a block `)
	}
	b.want(ann, abi.UpdateBlock, `"core"`, `invalid_argument: the content of a block is missing`)
	b.want(ann, abi.GetBlock, `"cores"`, `not_found: `)
	b.want(ann, abi.GetContent, `"core"`, `invalid_argument: the block "core" does not support`)
}

func TestGrants(t *testing.T) {
	b := open(t)
	b.want(ann, abi.UpdateBlock, `"core", "x"`, stored)
	granted := memory.Granted([]declare.Grant{declare.GrantOn("core", abi.Read), declare.GrantOn("archival", abi.Read, abi.Write, abi.Delete)})
	for _, test := range []struct{ op, args, want string }{
		{abi.GetBlock, `"core"`, `{"id":"core"`}, {abi.UpdateBlock, `"core", "y", {"if_revision": 1777566000000}`, `access_denied: the tool has no write grant on the block "core"`},
		{abi.DeleteBlock, `"core", {"if_revision": 1777566000000}`, "access_denied: "},
		{abi.UpdateBlock, `"archival", "y"`, stored}, {abi.DeleteBlock, `"archival", {"if_revision": 1777566000000}`, `{"success":true,"deleted":true}`},
		{abi.GetBlock, `"style"`, `not_found: the block "style" does not exist or was not granted`}, {abi.UpdateBlock, `"prefs", "y"`, `not_found: the block "prefs" does not exist or was not granted`},
	} {
		if got := b.call(ann, granted, test.op, test.args); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s(%s) = %s; want %s", test.op, test.args, got, test.want)
		}
	}
}

// TestEffects checks the item of an agent's block. The item appears in effects, in the changes of a
// dry run, in the export of a user, and in the erasure of a user.
func TestEffects(t *testing.T) {
	b := open(t)
	b.want(ann, abi.UpdateBlock, `"core", "old"`, stored)
	done, err := b.Transact(t.Context(), &memory.Tx{Caller: annMail, Authority: memory.Operator(), DryRun: true}, func(ctx context.Context, v *memory.View) error {
		for _, args := range []string{`["core", "new", {"if_revision": 1777566000000}]`, `["archival", "line", {"agent": true}]`} {
			call := abi.Call{Op: abi.UpdateBlock}
			if err := json.Unmarshal([]byte(args), &call.Args); err != nil {
				return err
			}
			if _, err := v.Call(ctx, call); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(done.Changes) != 2 {
		t.Fatalf("dry run = %+v, %v; want 2 changes", done, err)
	}
	if c := done.Changes[0]; c.Store != "core" || c.Item != "" || string(c.Before) != `"old"` || string(c.After) != `"new"` {
		t.Errorf("the first change is %+v", c)
	}
	if c := done.Changes[1]; c.Store != "archival" || c.Item != "emails" || string(c.Before) != "null" || string(c.After) != `"line"` {
		t.Errorf("the second change is %+v", c)
	}
	if w := done.Effects.Writes[1]; w.Item != "emails" || w.Revision != 1777566000000 {
		t.Errorf("the effect is %+v", w)
	}
	b.want(annMail, abi.GetBlock, `"core"`, `{"id":"core","block_type":"core","content":"old"`)
}

func TestErase(t *testing.T) {
	b := open(t)
	for _, c := range []partition.Caller{ann, bob} {
		c.Agent = "emails"
		b.want(c, abi.UpdateBlock, `"core", "c"`, stored)
		b.want(c, abi.UpdateBlock, `"archival", "a", {"agent": true}`, stored)
	}
	data, err := b.UserData(t.Context(), ann)
	if err != nil {
		t.Fatal(err)
	}
	var exported []string
	err = data.Records(t.Context(), func(r memory.UserRecord) error {
		exported = append(exported, fmt.Sprintf("%s/%s/%s=%s", r.User, r.Store, r.Item, r.Content))
		return nil
	})
	if want := []string{`ann/archival/emails="a"`, `ann/core/="c"`}; err != nil || !slices.Equal(slices.Sorted(slices.Values(exported)), want) {
		t.Errorf("the export contains %q, %v; want %q", exported, err, want)
	}
	erased, err := b.Erase(t.Context(), ann)
	if err != nil || erased.Records != 2 || erased.Stores["core"] != 1 || erased.Stores["archival"] != 1 {
		t.Errorf("Erase = %+v, %v; want 2 records", erased, err)
	}
	b.want(annMail, abi.GetBlock, `"core"`, "null")
	b.want(annMail, abi.GetBlock, `"archival", {"agent": true}`, "null")
	b.want(bob, abi.GetBlock, `"archival", {"agent": true}`, `{"id":"archival@emails"`)
}

// TestList checks the list of blocks for the host.
func TestList(t *testing.T) {
	b := open(t)
	for _, c := range []partition.Caller{as("ann", "emails"), as("ann", "records"), as("anna", "emails")} {
		b.want(c, abi.UpdateBlock, `"core", "agent", {"agent": true}`, stored)
		b.want(c, abi.UpdateBlock, `"archival", "user", {"expected_updated_at": null}`, "")
	}
	for _, test := range []struct {
		c     partition.Caller
		scope block.Scope
		want  string
	}{
		{ann, block.ScopeUser, "archival"}, {ann, block.ScopeAll, "core@emails core@records archival"}, {ann, block.ScopeAgent, "core@emails core@records"},
		{annMail, block.ScopeAll, "core@emails archival"}, {annMail, block.ScopeAgent, "core@emails"}, {annMail, block.ScopeUser, "archival"},
		{bob, block.ScopeAll, ""},
	} {
		var ids []string
		_, err := b.Transact(t.Context(), &memory.Tx{Caller: test.c, Authority: memory.Operator(), ReadOnly: true}, func(ctx context.Context, v *memory.View) error {
			found, err := memory.ListBlocks(ctx, v, test.scope)
			for _, f := range found {
				ids = append(ids, f.ID)
			}
			return err
		})
		if got := strings.Join(ids, " "); err != nil || got != test.want {
			t.Errorf("Blocks(%s) of %s, agent %q = %q, %v; want %q", test.scope, test.c.User, test.c.Agent, got, err, test.want)
		}
	}
}

// TestListTooLarge checks a list with too many texts of agents, and a list with too large texts. A
// list with too many or too large texts must fail and must not be truncated. A list of the texts of
// only one agent must still succeed.
func TestListTooLarge(t *testing.T) {
	for _, test := range []struct {
		agents int
		text   string
		fits   bool
	}{{1000, "x", true}, {1001, "x", false}, {200, strings.Repeat("\U0001F600", 4000), true}, {300, strings.Repeat("\U0001F600", 4000), false}} {
		b := open(t)
		for i := range test.agents {
			b.want(as("ann", fmt.Sprintf("a%d", i)), abi.UpdateBlock, `"core", "`+test.text+`", {"agent": true}`, stored)
		}
		list := func(c partition.Caller) (n int, err error) {
			_, err = b.Transact(t.Context(), &memory.Tx{Caller: c, Authority: memory.Operator(), ReadOnly: true}, func(ctx context.Context, v *memory.View) error {
				found, err := memory.ListBlocks(ctx, v, block.ScopeAll)
				n = len(found)
				return err
			})
			return n, err
		}
		if n, err := list(ann); test.fits && (n != test.agents || err != nil) || !test.fits && !errors.Is(err, abi.InvalidArgument) {
			t.Errorf("a list of %d texts of %d bytes = %d, %v; want it to fit: %t", test.agents, len(test.text), n, err, test.fits)
		}
		if n, err := list(as("ann", "a0")); n != 1 || err != nil {
			t.Errorf("the list of one agent = %d, %v; want one text", n, err)
		}
	}
}

// TestListedTime checks the times in lists of records. The blocks must have the same times, even if
// the clock is ahead of these times.
func TestListedTime(t *testing.T) {
	b := open(t)
	b.now = b.now.Add(123_456 * time.Microsecond)
	b.want(ann, abi.UpdateBlock, `"core", "x"`, `{"success":true,"revision":1777566000123,"updated_at":"2026-04-30T16:20:00.123Z"}`)
	if r := b.records("core")[0]; r.Updated.UnixMicro() != 1777566000123_000 || r.Revision != 1777566000123 {
		t.Errorf("the record is %+v; want the time of the block", r)
	}
}

// TestManyStores checks that blocks do not count as stores of the app.
func TestManyStores(t *testing.T) {
	openWith(t, func(c *memory.Config) {
		for i := range 15 {
			c.Stores = append(c.Stores, declare.Store{Name: fmt.Sprintf("record%d", i), Access: declare.ScopeUser})
		}
	})
}

// args returns the arguments of a call.
func args(texts ...string) (all []json.RawMessage) {
	for _, text := range texts {
		all = append(all, json.RawMessage(text))
	}
	return all
}
