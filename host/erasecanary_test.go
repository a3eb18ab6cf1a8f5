package host_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/model/openai"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/storage/postgres"
)

// canaryApp has stores of all kinds and scopes.
const canaryApp = `
app: zoo
blocks: true
collections: auto
sleep: {tool: steps}
memory:
  notes: {access: user}
  cart: {access: session}
  flags: {access: application}
  kb: {kind: collection, access: application, erase: never}
  tips: {kind: collection, access: application}
  diary: {kind: collection, access: user, embedding: small}
  chat: {kind: collection, access: session}
facts:
  user.pref: {type: string}
  workflow.case: {type: string}
  project.rate: {type: number}
tools:
  steps: &steps
    source: steps.js
    description: performs operations
    models: [local]
    grants: {notes: readwrite, cart: readwrite, flags: readwrite, kb: readwrite, tips: readwrite, diary: readwrite, chat: readwrite,
      "auto*": readwrite, user.pref: readwrite, workflow.case: readwrite, project.rate: readwrite, core: readwrite}
  gated:
    <<: *steps
    approval: {before: [set_content]}
`

const canarySteps = `
let out = null;
for (const [op, ...args] of input.calls ?? []) {
	if (op === "chat") out = await model.chat("local", {messages: [{role: "user", content: args[0]}]});
	else out = await memory[op](...args);
}
console.log(JSON.stringify(out));
if (input.fail) throw new Error(input.fail);
return out;`

const canaryAgent = `AGENT: Keeper
MEMORY:
  session:
    - last
    - kept
      RESET: never
  persistent:
    - user.said
FLOW:
  talk:
    REASONING: false
    ON_INPUT:
      - IF: input == "bye"
        THEN: COMPLETE
      - ELSE:
        SET:
          - last = input
          - kept = input
          - user.said = input
        RESPOND: "You said {{input}}"
        THEN: talk
`

// zoo is an app in which two users, "victim" and "other", use all features.
type zoo struct {
	*testing.T
	*host.Host
	backend storage.Backend
	models  *model.Set
	server  *modeltest.Server
	clock   *testClock
	rand    *rand.Rand
	secret  []byte // the canary in a changed form, because the test's memory must not contain the canary
	ended   map[string]bool
	n       int
}

// canary returns a word that only the user "victim" stores. The word has no ending that a stemmer
// would remove.
func (z *zoo) canary() string {
	word := make([]byte, len(z.secret))
	for i, c := range z.secret {
		word[i] = c ^ 0x55
	}
	return string(word)
}

func openZoo(t *testing.T, backend storage.Backend, seed uint64) *zoo {
	t.Helper()
	z := &zoo{T: t, backend: backend, server: modeltest.Start(), clock: newTestClock(), rand: rand.New(rand.NewPCG(seed, 1)), ended: map[string]bool{}}
	for range 16 {
		z.secret = append(z.secret, "bdfkmqxz"[rand.IntN(8)]^0x55)
	}
	text := "chat:\n  local: {base_url: \"" + z.server.URL() + "\", model: tiny}\nembeddings:\n  small: {base_url: \"" + z.server.URL() + "\", model: tiny, dim: 4}\n"
	config, err := model.ReadConfig("models.yaml", []byte(text))
	if err == nil {
		z.models, err = model.NewSet(config, map[string]model.Factory{"openai": openai.Factory()}, func(string) string { return "" })
	}
	if err != nil {
		t.Fatal(err)
	}
	loaded, problems := app.Load(fstest.MapFS{
		"app.yaml": {Data: []byte(canaryApp)}, "steps.js": {Data: []byte(canarySteps)}, "keeper.abl": {Data: []byte(canaryAgent)},
	}, "app.yaml")
	if loaded == nil {
		t.Fatal(problems)
	}
	z.Host, err = host.Open(context.Background(), host.Options{
		App: loaded, Backend: backend, Engines: engines.InProcess(), Models: z.models, Ledger: 24 * time.Hour, SweepEvery: -1, Now: z.clock.now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// caller returns a caller with the given user. The caller has a session, a workflow, both or
// neither.
func (z *zoo) caller(user string) host.Caller {
	c := host.Caller{User: user}
	if z.rand.IntN(3) > 0 {
		c.Session = fmt.Sprintf("s-%s-%d", user, z.rand.IntN(4))
	}
	if z.rand.IntN(3) == 0 {
		c.Workflow = fmt.Sprintf("w-%s-%d", user, z.rand.IntN(2))
	}
	if z.ended[c.Session] {
		c.Session = ""
	}
	return c
}

// text returns a text of the given user. Each text of the victim contains the canary.
func (z *zoo) text(user string) string {
	z.n++
	if user == "victim" {
		return fmt.Sprintf("tea %s %d", z.canary(), z.n)
	}
	return fmt.Sprintf("tea of %s %d", user, z.n)
}

// name returns a name that can be an id, a namespace or an idempotency key. The returned name does
// not contain the canary, because the name becomes part of a record's key, and backends keep the
// keys of changed records for some time.
func (z *zoo) name() string {
	z.n++
	return fmt.Sprint("name", z.n)
}

// zooStep is a call to a memory operation.
type zooStep []any

// run runs a tool that executes the given steps. If the tool fails, for example because a session
// has ended, the test continues.
func (z *zoo) run(inv host.Invocation, steps ...zooStep) *report.Result {
	z.Helper()
	in, err := json.Marshal(map[string]any{"calls": steps})
	if err != nil {
		z.Fatal(err)
	}
	if inv.Tool == "" {
		inv.Tool = "steps"
	}
	if inv.Input == nil {
		inv.Input = in
	}
	result, err := z.Host.Run(context.Background(), inv)
	if err != nil && !errors.Is(err, abi.ToolError) && !errors.Is(err, abi.SessionEnded) {
		z.Fatalf("%s of %+v with %s = %v", inv.Tool, inv.Caller, inv.Input, err)
	}
	return result
}

// remember returns a step that stores an entry. All parts of the entry contain data of the given
// user.
func (z *zoo) remember(user, collection string, options map[string]any) zooStep {
	all := map[string]any{"id": z.name(), "metadata": map[string]any{z.text(user): z.text(user), "kind": user}}
	if z.rand.IntN(4) == 0 {
		all["ttl"] = "10m"
	}
	for name, value := range options {
		all[name] = value
	}
	return zooStep{"remember", collection, z.text(user), all}
}

// zooActs contains the operations that the users perform.
var zooActs = map[string]func(z *zoo, user string, c host.Caller){
	"documents": func(z *zoo, user string, c host.Caller) {
		z.run(host.Invocation{Caller: c}, zooStep{"set_content", "notes", map[string]any{"a": z.text(user)}})
	},
	"documents of sessions": func(z *zoo, user string, c host.Caller) {
		if c.Session != "" {
			z.run(host.Invocation{Caller: c, Metadata: json.RawMessage(`{"m":"` + z.text(user) + `"}`)}, zooStep{"set_content", "cart", map[string]any{z.text(user): 1}})
		}
	},
	"facts": func(z *zoo, user string, c host.Caller) {
		z.run(host.Invocation{Caller: c}, zooStep{"set_fact", "user.pref", z.text(user)}, zooStep{"set_fact", "project.rate", z.n})
		if c.Workflow != "" {
			z.run(host.Invocation{Caller: c}, zooStep{"set_fact", "workflow.case", z.text(user)})
		}
	},
	"shared": func(z *zoo, user string, c host.Caller) {
		z.n++
		z.run(host.Invocation{Caller: c}, zooStep{"set_content", "flags", map[string]any{fmt.Sprint("f", z.n): true}},
			zooStep{"remember", "kb", fmt.Sprintf("knowledge %d", z.n), map[string]any{"id": fmt.Sprint(z.n)}})
	},
	"blocks": func(z *zoo, user string, c host.Caller) {
		for _, name := range []string{"core", "archival"} {
			agent := z.rand.IntN(2) == 0
			c.Agent = "Keeper"
			update := host.BlockUpdate{Name: name, Content: z.text(user), Agent: agent}
			if now, err := z.Blocks().Get(context.Background(), c, name, agent); err == nil && now != nil {
				update.Expected = block.Expected{Updated: now.Updated}
			}
			if _, err := z.Blocks().Update(context.Background(), c, update); err != nil {
				z.Fatal(err)
			}
		}
	},
	"entries": func(z *zoo, user string, c host.Caller) {
		steps := []zooStep{
			z.remember(user, "tips", nil), z.remember(user, "tips", map[string]any{"id": fmt.Sprint(z.rand.IntN(3))}),
			z.remember(user, "diary", map[string]any{"namespace": z.name()}), z.remember(user, "diary", nil),
			z.remember(user, "auto1", map[string]any{"namespace": "n"}), z.remember(user, "auto2", nil),
			{"recall", "diary", z.text(user)}, {"recall", "tips", z.text(user), map[string]any{"limit": 20}},
		}
		if c.Session != "" {
			steps = append(steps, z.remember(user, "chat", nil), zooStep{"recall", "chat", z.text(user)})
		}
		z.run(host.Invocation{Caller: c}, steps...)
	},
	"forgotten": func(z *zoo, user string, c host.Caller) {
		z.run(host.Invocation{Caller: c}, zooStep{"forget", "tips", map[string]any{"filter": map[string]any{"kind": user}}},
			zooStep{"forget", "auto1", map[string]any{"namespace": "n"}}, zooStep{"recall", "tips", z.text(user)})
	},
	"turns": func(z *zoo, user string, c host.Caller) {
		if c.Session != "" {
			message := z.text(user)
			if _, err := z.Agents().Turn(context.Background(), host.Turn{Agent: "Keeper", Caller: c, Message: &message}); err != nil {
				z.Fatal(err)
			}
		}
	},
	"transcripts": func(z *zoo, user string, c host.Caller) {
		if c.Session != "" {
			if _, err := z.Sessions().AddMessages(context.Background(), c, []host.Message{{Role: "user", Content: z.text(user)}}); err != nil {
				z.Fatal(err)
			}
		}
	},
	"files": func(z *zoo, user string, c host.Caller) {
		if c.Session == "" {
			return
		}
		text := z.text(user)
		up := artifact.Upload{Filename: text + ".txt", Type: "txt", MediaType: "text/plain", Content: []byte(strings.Repeat(text, 1000)), Text: &text}
		if _, err := z.Artifacts().Add(context.Background(), c, up); err != nil {
			z.Fatal(err)
		}
	},
	"anonymous sessions": func(z *zoo, user string, c host.Caller) {
		if c.Session == "" {
			return
		}
		c.Session += fmt.Sprint("-anonymous-", z.n)
		anonymous := host.Caller{Session: c.Session}
		z.run(host.Invocation{Caller: anonymous, Key: z.name()}, zooStep{"set_content", "cart", map[string]any{"a": z.text(user)}}, z.remember(user, "chat", nil))
		if _, err := z.Sessions().Start(context.Background(), c, session.Start{Metadata: json.RawMessage(`{"m":"` + z.text(user) + `"}`), Reference: z.text(user)}); err != nil {
			z.Fatal(err)
		}
	},
	"kept results": func(z *zoo, user string, c host.Caller) {
		inv := host.Invocation{Caller: c, Key: z.name()}
		z.run(inv, zooStep{"set_content", "notes", map[string]any{"a": z.text(user)}}, zooStep{"get_content", "notes"})
	},
	"models": func(z *zoo, user string, c host.Caller) {
		z.run(host.Invocation{Caller: c, Key: z.name()}, zooStep{"chat", z.text(user)})
	},
	"paused runs": func(z *zoo, user string, c host.Caller) {
		result := z.run(host.Invocation{Tool: "gated", Caller: c, Key: z.name()}, zooStep{"chat", z.text(user)}, z.remember(user, "diary", nil),
			zooStep{"recall", "diary", z.text(user)}, zooStep{"set_content", "notes", map[string]any{"a": z.text(user)}})
		if result.Approval == nil {
			return
		}
		switch z.rand.IntN(4) {
		case 0:
			if _, err := z.Approvals().Approve(context.Background(), approver, result.Approval.Token); err != nil && !errors.Is(err, abi.SessionEnded) {
				z.Fatal(err)
			}
		case 1:
			if _, err := z.Approvals().Deny(context.Background(), approver, result.Approval.Token, z.text(user)); err != nil {
				z.Fatal(err)
			}
		}
	},
	"failures": func(z *zoo, user string, c host.Caller) {
		in, _ := json.Marshal(map[string]any{"fail": z.text(user), "calls": []zooStep{z.remember(user, "tips", nil), {"recall", "tips", z.text(user)}}})
		z.run(host.Invocation{Caller: c, Input: in})
		z.run(host.Invocation{Caller: c, DryRun: true}, z.remember(user, "diary", nil), zooStep{"recall", "diary", z.text(user)})
	},
	"operators": func(z *zoo, user string, c host.Caller) {
		entry := host.NewEntry{ID: z.name(), Content: json.RawMessage(`"` + z.text(user) + `"`)}
		if _, err := host.CollectionsOf(z.Host).Remember(context.Background(), host.Caller{User: user}, "diary", entry); err != nil {
			z.Fatal(err)
		}
		if _, err := host.CollectionsOf(z.Host).Recall(context.Background(), host.Caller{User: user}, host.RecallEntries{Collection: "diary", Query: z.text(user)}); err != nil {
			z.Fatal(err)
		}
	},
	"ends": func(z *zoo, user string, c host.Caller) {
		if c.Session != "" && z.rand.IntN(2) == 0 {
			if _, err := z.Sessions().End(context.Background(), c); err != nil && !errors.Is(err, abi.NotFound) {
				z.Fatal(err)
			}
			z.ended[c.Session] = true
		}
		z.clock.advance(time.Duration(z.rand.IntN(20)) * time.Minute)
		if _, err := z.Sweep(context.Background()); err != nil {
			z.Fatal(err)
		}
		if _, err := z.Sleep().RunDue(context.Background()); err != nil {
			z.Fatal(err)
		}
	},
}

// history performs random acts for both users. Before these acts, it stores many entries, so that
// the collections have indexes in memory.
func (z *zoo) history(n int) {
	for _, user := range []string{"victim", "other"} {
		for range 5 {
			var steps []zooStep
			for i := range 60 {
				metadata := map[string]any{"filled": z.text(user)} // "forgotten" keeps the entry
				steps = append(steps, z.remember(user, "tips", map[string]any{"ttl": "300d", "metadata": metadata}), zooStep{"remember", "kb", fmt.Sprintf("knowledge %s %d", user, i)},
					z.remember(user, "auto1", map[string]any{"ttl": "300d", "metadata": metadata, "namespace": "filled"}))
			}
			z.run(host.Invocation{Caller: host.Caller{User: user}}, append(steps, zooStep{"recall", "kb", "knowledge"},
				zooStep{"recall", "tips", "tea"}, zooStep{"recall", "auto1", "tea", map[string]any{"namespace": "filled"}})...)
		}
	}
	names := make([]string, 0, len(zooActs))
	for name := range zooActs {
		names = append(names, name)
	}
	slices.Sort(names)
	for range n {
		user := []string{"victim", "other"}[z.rand.IntN(2)]
		zooActs[names[z.rand.IntN(len(names))]](z, user, z.caller(user))
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "ends" || name == "forgotten" })
	for range 5 { // the victim performs each operation several times, with and without a session
		for _, name := range names {
			zooActs[name](z, "victim", host.Caller{User: "victim", Session: "s-last", Workflow: "w-last"})
			zooActs[name](z, "victim", host.Caller{User: "victim"})
		}
	}
}

// records returns all records of the backend.
func (z *zoo) records() map[storage.Key]storage.Record {
	z.Helper()
	all := map[storage.Key]storage.Record{}
	for after := storage.Key(""); ; {
		page, err := z.backend.Scan(context.Background(), "", after, 200)
		if err != nil {
			z.Fatal(err)
		}
		for _, r := range page {
			all[r.Key], after = r, r.Key
		}
		if len(page) < 200 {
			return all
		}
	}
}

// holding returns the names of all stores, and the kinds of all system records, that contain the
// canary.
func (z *zoo) holding(all map[storage.Key]storage.Record) []string {
	found := map[string]bool{}
	canary := z.canary()
	for key, r := range all {
		if strings.Contains(string(key)+string(r.Content)+strings.Join(r.Tags, " "), canary) {
			found[key.Part(storage.System)+key.Part(storage.Store)] = true
		}
	}
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// erase erases the victim. Shared records and the records of the other user must still exist.
func (z *zoo) erase() {
	z.Helper()
	before := z.records()
	for _, want := range []string{"notes", "tips", "diary", "chat", "auto1", "auto2", "facts", "core", "session", "transcripts", "agents", "file", "finished", "paused-run"} {
		if !slices.Contains(z.holding(before), want) {
			z.Errorf("before the erasure, only %v contain data of the victim; want also %s", z.holding(before), want)
		}
	}
	erased, err := z.Users().Erase(context.Background(), host.Caller{User: "victim"})
	if err != nil {
		z.Fatal(err)
	}
	after := z.records()
	z.Logf("erased %+v; %d of %d records remain", erased, len(after), len(before))
	if found := z.holding(after); len(found) > 0 {
		z.Errorf("after the erasure, %v contain data of the victim", found)
	}
	for key, r := range before {
		store, user := key.Part(storage.Store), key.Part(storage.User)
		shared := store == "kb" || store == "flags" || store == "facts" && user == "" && key.Part(storage.Workflow) == "" && key.Part(storage.Session) == ""
		if _, kept := after[key]; !kept && (shared || user == "other" || r.Subject() == "other") {
			z.Errorf("the erasure of the victim removed %q = %.100s", key, r.Content)
		}
	}
	requests, _, err := z.Approvals().List(context.Background(), approver, true, "")
	if err != nil || slices.ContainsFunc(requests, func(a approval.Approval) bool { return a.User == "victim" }) {
		z.Errorf("the approvals are %+v, %v; want no request of the victim", requests, err)
	}
	found, err := host.CollectionsOf(z.Host).Recall(context.Background(), host.Caller{User: "other"}, host.RecallEntries{Collection: "kb", Query: "knowledge", Limit: 1000})
	if err != nil || len(found) < 600 {
		z.Errorf("recall in kb found %d entries, %v; want those of both users", len(found), err)
	}
}

// maxStale is the maximum number of copies of the canary in unused memory.
const maxStale = 50

// forgetful checks that the memory of the process does not contain the canary. The host stays open.
func (z *zoo) forgetful() {
	z.Helper()
	z.server.Close() // it contains requests
	z.server = nil
	path := filepath.Join(z.TempDir(), "heap")
	file, err := os.Create(path)
	if err != nil {
		z.Fatal(err)
	}
	for range 3 { // a sync.Pool keeps its content for two garbage collections
		runtime.GC()
	}
	debug.WriteHeapDump(file.Fd())
	if err := file.Close(); err != nil {
		z.Fatal(err)
	}
	dump, err := os.ReadFile(path)
	if err != nil {
		z.Fatal(err)
	}
	// Go does not clear memory that it frees, so the unused parts of later buffers can contain a
	// few copies of the canary. If an index or a cache kept the texts of the user, it would contain
	// hundreds of copies.
	if n := bytes.Count(dump, []byte(z.canary())); n > maxStale {
		z.clean("the memory of the process", dump)
	}
}

// clean checks that bytes do not contain the canary, in any of several encodings.
func (z *zoo) clean(what string, data []byte) {
	z.Helper()
	canary := []byte(z.canary())
	for notation, text := range map[string][]byte{"text": canary, "hex": []byte(hex.EncodeToString(canary))} {
		if at := bytes.Index(data, text); at >= 0 {
			z.Errorf("%s contains the canary %d times as %s, first in %q", what, bytes.Count(data, text), notation, data[max(0, at-200):min(len(data), at+100)])
		}
	}
}

// TestErasedCanary performs random histories over all kinds of stores, erases a user, and then
// searches all remaining data for a word that only this user has stored. The test searches the
// records, a compacted database file and a new backup. TestErasedCanary also searches the memory of
// the process, which contains indexes, caches and journals.
func TestErasedCanary(t *testing.T) {
	n := 60
	if os.Getenv("TOOLRUN_SOAK") != "" {
		n = 1000
	}
	seed := rand.Uint64()
	t.Logf("the seed is %d", seed)
	// The histories run in a separate goroutine. Therefore no stack contains the canary when they
	// have ended.
	history := func(z *zoo) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			z.history(n)
			z.erase()
		}()
		<-done
	}
	t.Run("mem", func(t *testing.T) {
		z := openZoo(t, mem.New(), seed)
		defer z.Close()
		history(z)
		z.forgetful()
	})
	t.Run("bolt", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "db")
		db, err := bolt.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		z := openZoo(t, db, seed)
		history(z)
		var backup bytes.Buffer
		if _, err := db.Backup(t.Context(), &backup); err != nil {
			t.Fatal(err)
		}
		z.clean("the backup", backup.Bytes())
		z.forgetful()
		if err := errors.Join(z.Close(), db.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := bolt.Compact(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		z.clean("the compacted file", file)
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := approvalCluster.DSN(t)
		db, err := postgres.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		z := openZoo(t, db, seed)
		history(z)
		z.clean("the tables", dumpTables(t, dsn)) // the memory contains the buffers of connections
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// dumpTables returns the content of the tables of a database as text. Bytes are printed in
// hexadecimal form.
func dumpTables(t *testing.T, dsn string) []byte {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var all bytes.Buffer
	for _, table := range []string{"records", "tags", "usage", "floors", "changes"} {
		if _, err := conn.PgConn().CopyTo(t.Context(), &all, "copy "+table+" to stdout"); err != nil {
			t.Fatal(err)
		}
	}
	return all.Bytes()
}
