package fact_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// model is a reference implementation of facts. model is a map from an owner and a path to a value.
type model struct {
	rand     *rand.Rand
	now      time.Time
	declared map[string]declare.Fact
	stored   map[string]modelFact // by owner and path
	// highest contains the highest revision of each key. Revisions of deleted values count too.
	highest map[string]int64
	// generation is the number of ended workflows and sessions of each user. The ids of the current
	// workflow and session contain the generation.
	generation map[string]int
}

type modelFact struct {
	value    string
	revision int64
	expires  time.Time
}

var (
	modelPaths = []string{"user.a", "user.a.b", "user.ab", "user.c.d.e", "project.x", "project.x.y", "workflow.w", "execution_tree.w", "other.z"}
	modelUsers = []string{"", "ann", "bob"}
)

// declare declares random facts.
func (m *model) declare() (facts []declare.Fact) {
	for _, path := range modelPaths {
		if m.rand.IntN(3) == 0 {
			continue
		}
		f := declare.Fact{Path: path, Strict: m.rand.IntN(2) == 0}
		f.Scope = []declare.Scope{"", "", declare.ScopeUser, declare.ScopeApplication, declare.ScopeWorkflow}[m.rand.IntN(5)]
		f.Type = []declare.FactType{"", declare.FactNumber, declare.FactString}[m.rand.IntN(3)]
		if f.Type == declare.FactNumber && m.rand.IntN(2) == 0 {
			f.Default = json.RawMessage("7")
		}
		f.TTL = time.Duration(m.rand.IntN(3)) * 20 * time.Second
		f.Domain = []string{"", "shared"}[m.rand.IntN(2)]
		facts = append(facts, f)
		m.declared[path] = f
	}
	return facts
}

// caller returns a random caller.
func (m *model) caller() partition.Caller {
	user := modelUsers[m.rand.IntN(len(modelUsers))]
	c := partition.Caller{Tenant: "acme", User: user, Run: "run_1"}
	if m.rand.IntN(2) == 0 {
		c.Session = fmt.Sprintf("s-%s-%d", user, m.generation["s"+user])
	}
	if m.rand.IntN(2) == 0 {
		c.Workflow = fmt.Sprintf("w-%s-%d", user, m.generation["w"+user])
	}
	return c
}

// grants returns random grants. For an operator, the result is nil.
func (m *model) grants() []declare.Grant {
	if m.rand.IntN(2) == 0 {
		return nil
	}
	grants := []declare.Grant{}
	for range m.rand.IntN(4) {
		name := append([]string{declare.Facts, "user.*", "user.a.*", "project.*"}, modelPaths...)[m.rand.IntN(4+len(modelPaths))]
		var verbs []abi.Verb
		for _, v := range []abi.Verb{abi.Read, abi.Write, abi.Delete} {
			if m.rand.IntN(2) == 0 {
				verbs = append(verbs, v)
			}
		}
		grants = append(grants, declare.GrantOn(name, verbs...))
	}
	return grants
}

// owner returns the key of a fact of the caller. If the caller lacks the owner of the fact, the
// method returns a fault. For example, a caller without a user lacks the owner of the user's facts.
func (m *model) owner(c partition.Caller, path string) (string, abi.Code) {
	scope := m.declared[path].Scope
	if scope == "" {
		scope = declare.FactScope(path)
	}
	switch {
	case scope == declare.ScopeApplication:
		return "app " + path, ""
	case scope == declare.ScopeUser && c.User == "":
		return "", abi.NoUser
	case scope == declare.ScopeUser:
		return "user " + c.User + " " + path, ""
	case c.Workflow != "":
		return "workflow " + c.Workflow + " " + path, ""
	case c.Session != "":
		return "session " + c.Session + " " + path, ""
	}
	return "", abi.NoWorkflow
}

// allowed returns a fault if the grants do not allow a call.
func allowed(grants []declare.Grant, path string, verb abi.Verb) abi.Code {
	if grants == nil {
		return ""
	}
	any, covered := false, false
	for _, g := range grants {
		any = any || g.Allows(verb)
		if g.Covers(path) {
			if g.Allows(verb) {
				return ""
			}
			covered = true
		}
	}
	if len(grants) > 0 && (covered || !any) {
		return abi.AccessDenied
	}
	return abi.NotFound
}

// find returns the value of a fact. If the value has expired, the method does not return it.
func (m *model) find(key string) (modelFact, bool) {
	f, ok := m.stored[key]
	return f, ok && (f.expires.IsZero() || m.now.Before(f.expires))
}

// The variable values contains JSON values of several types. The test chooses among them at random.
var values = []string{"1", `"x"`, "[1,2]", `{"a":null}`, "true", "null"}

// step performs a random operation on the model. step returns the operation and the expected reply.
// The reply to get_fact is the value, and the reply to list_facts is the list of paths. The reply
// to other operations is empty. If an operation fails, its reply is the code of the fault.
func (m *model) step(c partition.Caller, grants []declare.Grant) (op, args, want string) {
	path := modelPaths[m.rand.IntN(len(modelPaths))]
	switch m.rand.IntN(4) {
	case 0:
		return abi.GetFact, quoted(path), m.get(c, grants, path)
	case 1:
		required := m.required(c, path)
		return abi.DeleteFact, quoted(path) + `,{"if_revision":` + required + `}`, m.remove(c, grants, path, required)
	case 2:
		prefix := []string{"", "user", "user.a", "project", "workflow"}[m.rand.IntN(5)]
		domain := []string{"", "shared", "w"}[m.rand.IntN(3)]
		return abi.ListFacts, nullIfEmpty(prefix) + "," + nullIfEmpty(domain), m.list(c, grants, prefix, domain)
	}
	value, required, ttl := values[m.rand.IntN(len(values))], m.required(c, path), m.rand.IntN(3)*15
	args = quoted(path) + "," + value + `,{"if_revision":` + required
	if ttl > 0 {
		args += fmt.Sprintf(`,"ttl":"%ds"`, ttl)
	}
	return abi.SetFact, args + "}", m.set(c, grants, path, value, required, time.Duration(ttl)*time.Second)
}

func quoted(text string) string { return `"` + text + `"` }

func nullIfEmpty(text string) string {
	if text == "" {
		return "null"
	}
	return quoted(text)
}

// required chooses the required revision of a call. The required revision is "null", 0, the current
// revision or another revision. The revision "null" requires nothing, and the revision 0 requires
// that no value exists.
func (m *model) required(c partition.Caller, path string) string {
	key, _ := m.owner(c, path)
	return []string{"null", "null", "0", fmt.Sprint(m.stored[key].revision), "99999"}[m.rand.IntN(5)]
}

func (m *model) get(c partition.Caller, grants []declare.Grant, path string) string {
	key, missing := m.owner(c, path)
	if code := firstCode(allowed(grants, path, abi.Read), missing); code != "" {
		return string(code)
	}
	if f, ok := m.find(key); ok {
		return f.value
	}
	if d := m.declared[path].Default; d != nil {
		return string(d)
	}
	return "null"
}

func firstCode(codes ...abi.Code) abi.Code {
	for _, code := range codes {
		if code != "" {
			return code
		}
	}
	return ""
}

// conflicts reports whether the revision of a value differs from the required revision.
func (m *model) conflicts(key, required string) bool {
	f, ok := m.find(key)
	return required == "0" && ok || required != "null" && required != "0" && (!ok || required != fmt.Sprint(f.revision))
}

func (m *model) set(c partition.Caller, grants []declare.Grant, path, value, required string, ttl time.Duration) string {
	key, missing := m.owner(c, path)
	if code := firstCode(allowed(grants, path, abi.Write), missing); code != "" {
		return string(code)
	}
	d := m.declared[path]
	switch {
	case value == "null":
		return string(abi.InvalidArgument)
	case d.Strict && !d.Type.Accepts(json.RawMessage(value)):
		return string(abi.SchemaViolation)
	case m.conflicts(key, required):
		return string(abi.Conflict)
	}
	f := modelFact{value: value}
	if ttl == 0 {
		ttl = d.TTL
	}
	if ttl > 0 {
		f.expires = m.now.Add(ttl)
	}
	m.stored[key] = f
	return ""
}

func (m *model) remove(c partition.Caller, grants []declare.Grant, path, required string) string {
	key, missing := m.owner(c, path)
	if code := firstCode(allowed(grants, path, abi.Delete), missing); code != "" {
		return string(code)
	}
	if m.conflicts(key, required) {
		return string(abi.Conflict)
	}
	delete(m.stored, key)
	return ""
}

func (m *model) list(c partition.Caller, grants []declare.Grant, prefix, domain string) string {
	if grants != nil {
		if len(grants) == 0 {
			return string(abi.NotFound)
		}
		if !slices.ContainsFunc(grants, func(g declare.Grant) bool { return g.Allows(abi.Read) }) {
			return string(abi.AccessDenied)
		}
	}
	var found []string
	for _, path := range modelPaths {
		key, missing := m.owner(c, path)
		_, ok := m.find(key)
		in := prefix == "" || path == prefix || strings.HasPrefix(path, prefix+".")
		own := m.declared[path].Domain
		if own == "" {
			own = declare.FactDomain(path)
		}
		if ok && missing == "" && in && allowed(grants, path, abi.Read) == "" && (domain == "" || domain == own) {
			found = append(found, path+"="+m.stored[key].value)
		}
	}
	slices.Sort(found)
	return strings.Join(found, " ")
}

// end ends the workflow or the session of a user.
func (m *model) end(f *facts) {
	user := modelUsers[m.rand.IntN(len(modelUsers))]
	kind := []string{"s", "w"}[m.rand.IntN(2)]
	id := fmt.Sprintf("%s-%s-%d", kind, user, m.generation[kind+user])
	c := partition.Caller{Tenant: "acme", User: user}
	var err error
	if kind == "w" {
		c.Workflow = id
		_, err = f.Workflows().End(f.t.Context(), c)
	} else {
		c.Session = id
		_, err = f.Sessions().End(f.t.Context(), c)
	}
	if err != nil && abi.FaultOf(err).Code != abi.NotFound {
		f.t.Fatal(err)
	}
	m.generation[kind+user]++
	maps.DeleteFunc(m.stored, func(key string, _ modelFact) bool { return strings.Contains(key, " "+id+" ") })
}

// revise reads the revision of a value after a write, and stores the revision in the model. revise
// checks that the revision is higher than all previous revisions of the fact.
func (m *model) revise(f *facts, c partition.Caller, path string) {
	key, _ := m.owner(c, path)
	var record struct{ Revision int64 }
	reply := f.call(c, memory.Operator(), abi.GetFact, quoted(path)+`,{"record":true}`)
	if err := json.Unmarshal([]byte(reply), &record); err != nil || record.Revision <= m.highest[key] {
		f.t.Errorf("%s has the record %s; want a revision after %d", key, reply, m.highest[key])
	}
	m.highest[key] = record.Revision
	stored := m.stored[key]
	stored.revision = record.Revision
	m.stored[key] = stored
}

// reply returns the reply to an operation in the same format as model.step.
func reply(op, text string) string {
	if code, _, fault := strings.Cut(text, ": "); fault && abi.Code(code).Number() > 0 {
		return code
	}
	switch op {
	case abi.GetFact:
		return text
	case abi.ListFacts:
		var page struct {
			Facts []struct {
				Path  string
				Value json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			return text
		}
		var found []string
		for _, fact := range page.Facts {
			found = append(found, fact.Path+"="+string(fact.Value))
		}
		slices.Sort(found)
		return strings.Join(found, " ")
	}
	return ""
}

// TestModel uses random declarations, callers, grants and times. TestModel performs operations and
// compares each reply with the reply of a model.
func TestModel(t *testing.T) {
	for name, open := range map[string]func(dir string) (storage.Backend, error){
		"mem":  func(string) (storage.Backend, error) { return mem.New(), nil },
		"bolt": func(dir string) (storage.Backend, error) { return bolt.Open(filepath.Join(dir, "memory.db"), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(12) {
				backend, err := open(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				runModel(t, backend, seed)
				if err := backend.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func runModel(t *testing.T, backend storage.Backend, seed uint64) {
	m := &model{
		rand: rand.New(rand.NewPCG(seed, 0)), declared: map[string]declare.Fact{}, stored: map[string]modelFact{},
		highest: map[string]int64{}, generation: map[string]int{},
	}
	f := openWith(t, func(cfg *memory.Config) {
		cfg.Backend, cfg.Stores = backend, []declare.Store{declare.FactStore(m.declare())}
	})
	f.backend = backend
	for n := range 250 {
		if m.rand.IntN(10) == 0 {
			m.end(f)
		}
		f.now = f.now.Add(time.Duration(m.rand.IntN(8)) * time.Second)
		m.now = f.now
		c, grants := m.caller(), m.grants()
		authority := memory.Operator()
		if grants != nil {
			authority = memory.Granted(grants)
		}
		op, args, want := m.step(c, grants)
		got := reply(op, f.call(c, authority, op, args))
		if got != want {
			t.Fatalf("seed %d, operation %d: %s(%s) as %+v with %v = %s; want %s", seed, n, op, args, c, grants, got, want)
		}
		if op == abi.SetFact && want == "" {
			path, _, _ := strings.Cut(args[1:], `"`)
			m.revise(f, c, path)
		}
	}
}
