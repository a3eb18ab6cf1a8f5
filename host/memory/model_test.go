package memory_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
)

// The model is a second, simple implementation of memory. The model stores data in maps, executes
// one run after another, and has no transactions and no caches. Tests execute the same runs with
// the Service and, in a serial order, with the model. Then the tests compare the results.

// modelStore is the declaration of a store in the model.
type modelStore struct {
	access      declare.Scope
	life        time.Duration
	withSession bool // a record expires with the session of its last writer
	schema      bool // strict, with modelSchema
}

var modelStores = map[string]modelStore{
	"notes": {access: declare.ScopeUser},
	"prefs": {access: declare.ScopeUser, schema: true},
	"daily": {access: declare.ScopeUser, life: 10 * time.Minute},
	"last":  {access: declare.ScopeUser, withSession: true},
	"cart":  {access: declare.ScopeSession, withSession: true},
	"flags": {access: declare.ScopeApplication},
}

// modelSchema is a schema that allows two contents. The result of merging these contents violates
// the schema.
const modelSchema = `{"type":"object","maxProperties":2,"properties":{
	"a":{"type":"integer","default":1},"b":{"type":"integer"},"c":{"type":"integer"}}}`

// modelDeclarations returns the declarations of the stores for the Service.
func modelDeclarations() []declare.Store {
	var all []declare.Store
	for name, st := range modelStores {
		decl := declare.Store{Name: name, Access: st.access, Retention: declare.Retention{For: st.life, Session: st.withSession}}
		if st.schema {
			decl.Strict, decl.Schema = true, json.RawMessage(modelSchema)
		}
		all = append(all, decl)
	}
	return all
}

// A place identifies a record by its store and by its user or session.
type place struct{ store, owner string }

// subject returns the data subject of the caller's writes. The data subject is the user, or the
// session if the caller has no user.
func (at place) subject(c partition.Caller) string {
	if user, ok := strings.CutPrefix(at.owner, "user "); ok {
		return user
	}
	session, ok := strings.CutPrefix(at.owner, "session ")
	switch {
	case !ok:
		return ""
	case c.User != "":
		return c.User
	}
	return "\x00" + session
}

type modelRecord struct {
	content                   string // canonical JSON
	revision                  int64
	created, updated, expires time.Time
	session                   string // the session that the record ends with, or ""
	subject                   string // the data subject, or ""
}

type modelSession struct {
	user     string
	metadata string // canonical JSON
	ended    bool
}

// world is the complete state of the model. Code that changes the state modifies a copy. The maps
// of an existing world are never modified.
type world struct {
	now      time.Time
	records  map[place]modelRecord
	sessions map[string]modelSession
	last     map[place]int64 // the highest revision so far
	erased   map[string]int  // the number of erasures of each user
	began    map[int]int     // the number of erasures of the user before the run began
	limits   memory.Limits
}

func newWorld(now time.Time, limits memory.Limits) world {
	return world{now: now, records: map[place]modelRecord{}, sessions: map[string]modelSession{},
		last: map[place]int64{}, erased: map[string]int{}, began: map[int]int{}, limits: limits}
}

func (w world) clone() world {
	w.records, w.sessions = maps.Clone(w.records), maps.Clone(w.sessions)
	w.last, w.erased, w.began = maps.Clone(w.last), maps.Clone(w.erased), maps.Clone(w.began)
	return w
}

// begin starts the session of a caller in the model. If the caller cannot use the session, begin
// returns the code of a fault.
func (w world) begin(c partition.Caller) abi.Code {
	if c.Session == "" {
		return ""
	}
	s, known := w.sessions[c.Session]
	switch {
	case s.ended:
		return abi.SessionEnded
	case known && s.user != "" && s.user != c.User:
		return abi.AccessDenied
	case !known:
		s.metadata = "{}"
	}
	s.user = c.User
	w.sessions[c.Session] = s
	return ""
}

// mayCommit reports whether the session and the user of a caller are still valid.
func (w world) mayCommit(c partition.Caller) bool {
	s, known := w.sessions[c.Session]
	return c.Session == "" || known && !s.ended && s.user == c.User
}

// The method visible reports whether a record is visible to a caller. If the caller's session has
// ended, its records remain visible until they are removed, but the run fails.
func (w world) visible(r modelRecord, c partition.Caller) bool {
	if !r.expires.IsZero() && !w.now.Before(r.expires) {
		return false
	}
	s, known := w.sessions[r.session]
	return r.session == "" || r.session == c.Session || known && !s.ended
}

// guest is a run in the model.
type guest struct {
	w      world
	c      partition.Caller
	stamp  time.Time // the time of the run's writes
	before map[place]modelRecord
	view   map[place]modelRecord
	// readSet contains the places of the records that the run has read. A reply must depend only on
	// records in readSet.
	readSet map[place]bool
	wrote   map[place]bool
	// passed returns true if the observed run has completed the current call. In this case, the
	// model does not check blind merges. A blind merge that succeeded in the run can fail in the
	// model, because other runs can change the record after the run.
	passed func() bool
}

func newGuest(w world, c partition.Caller, stamp time.Time) *guest {
	g := &guest{w: w, c: c, stamp: stamp, before: map[place]modelRecord{}, readSet: map[place]bool{}, wrote: map[place]bool{}}
	for at, r := range w.records {
		if w.visible(r, c) {
			g.before[at] = r
		}
	}
	g.view = maps.Clone(g.before)
	return g
}

// commit returns the state of the model after the run.
func (g *guest) commit() world {
	w := g.w.clone()
	for at := range g.wrote {
		delete(w.records, at)
		if r, ok := g.view[at]; ok {
			w.records[at], w.last[at] = r, r.revision
		}
	}
	return w
}

// call performs an operation and returns the reply as canonical JSON, or the code of the fault.
func (g *guest) call(op string, args []string) (string, abi.Code) {
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	name := parse(arg(0)).(string)
	if name == declare.SessionMeta {
		return project(g.meta(), arg(1)), ""
	}
	st, ok := modelStores[name]
	if !ok {
		return "", abi.NotFound
	}
	at := place{store: name}
	switch st.access {
	case declare.ScopeUser:
		if at.owner = "user " + g.c.User; g.c.User == "" {
			return "", abi.NoUser
		}
	case declare.ScopeSession:
		if at.owner = "session " + g.c.Session; g.c.Session == "" {
			return "", abi.NoSession
		}
	}
	switch op {
	case abi.GetContent:
		return g.get(at, arg(1), parseModelOptions(arg(2)))
	case abi.SetContent:
		return g.set(at, st, arg(1), parseModelOptions(arg(2)))
	}
	return g.delete(at, parseModelOptions(arg(1)))
}

type modelOptions struct {
	Record     bool
	Replace    bool
	IfRevision *int64 `json:"if_revision"`
	TTL        string
}

func parseModelOptions(text string) (o modelOptions) {
	if text != "" {
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			panic(err)
		}
	}
	return o
}

// meta returns an object with the metadata in sessionMeta. Tests do not check other members of
// sessionMeta.
func (g *guest) meta() string {
	metadata := g.w.sessions[g.c.Session].metadata
	if metadata == "" {
		metadata = "{}"
	}
	return `{"metadata":` + metadata + `}`
}

func (g *guest) get(at place, projection string, o modelOptions) (string, abi.Code) {
	g.readSet[at] = true
	r, ok := g.view[at]
	if !ok {
		return "null", ""
	}
	content := project(r.content, projection)
	if !o.Record {
		return content, ""
	}
	return fmt.Sprintf(`{"content":%s,"created":%s,"expires_at":%s,"revision":%d,"updated_at":%s}`,
		content, timeText(r.created), timeText(r.expires), r.revision, timeText(r.updated)), ""
}

func (g *guest) delete(at place, o modelOptions) (string, abi.Code) {
	g.readSet[at] = true
	r, ok := g.view[at]
	if o.IfRevision != nil && *o.IfRevision != r.revision {
		return "", abi.Conflict
	}
	if ok {
		delete(g.view, at)
		g.wrote[at] = true
	}
	return fmt.Sprintf(`{"deleted":%t,"success":true}`, ok), ""
}

func (g *guest) set(at place, st modelStore, value string, o modelOptions) (string, abi.Code) {
	patch, object := parse(value).(map[string]any)
	life, _ := time.ParseDuration(o.TTL)
	switch {
	case len(value) > g.w.limits.RecordBytes:
		return "", abi.TooLarge
	case !object, st.life > 0 && life > st.life:
		return "", abi.InvalidArgument
	case st.withSession && g.c.Session == "":
		return "", abi.NoSession
	}
	r, existed := g.view[at]
	if o.IfRevision != nil {
		g.readSet[at] = true
		if *o.IfRevision != r.revision {
			return "", abi.Conflict
		}
	}
	blind := g.passed != nil && !g.readSet[at] && g.passed()
	next := mergeModel(st, r.content, existed, patch, o.Replace)
	if st.schema && !fitsModelSchema(next) && !blind {
		g.readSet[at] = true
		return "", abi.SchemaViolation
	}
	r = g.stamped(at, existed, text(next))
	if life == 0 {
		life = st.life
	}
	if life > 0 {
		r.expires = g.stamp.Add(life)
	}
	if st.withSession {
		r.session = g.c.Session
	}
	if code := g.tooMuch(at, r); code != "" && !blind {
		g.readSet[at] = true
		return "", code
	}
	g.view[at], g.wrote[at] = r, true
	revision, updated := "null", "null"
	if g.readSet[at] {
		revision, updated = fmt.Sprint(r.revision), timeText(r.updated)
	}
	return fmt.Sprintf(`{"expires_at":%s,"revision":%s,"success":true,"updated_at":%s}`, timeText(r.expires), revision, updated), ""
}

// stamped returns a record with a given content. The record has the revision and the times of a
// write. A commit increments the revision by one, even if the run writes the record several times.
// Each update has a later time than the previous one.
//
// If a record with this key existed before, its revisions continue. In these tests, two keys of a
// store never share a floor, which is the stored minimum of revisions; see the comment on tenantOf.
func (g *guest) stamped(at place, existed bool, content string) modelRecord {
	base, was := g.before[at]
	r := modelRecord{content: content, revision: g.w.last[at] + 1, created: g.stamp, updated: g.stamp}
	if existed {
		r.created = g.view[at].created
	}
	if was && !r.updated.After(base.updated) {
		r.updated = base.updated.Add(time.Microsecond)
	}
	r.subject = at.subject(g.c)
	return r
}

// tooMuch returns a fault if a record exceeds the limit for one record or the limit of the app.
func (g *guest) tooMuch(at place, r modelRecord) abi.Code {
	if len(r.content) > g.w.limits.RecordBytes {
		return abi.TooLarge
	}
	after := g.commit()
	after.records[at] = r
	if after.live() > g.w.limits.AppRecords && len(after.records) > len(g.w.records) {
		return abi.QuotaExceeded
	}
	return ""
}

// live returns the number of records that have not expired. If records have expired, the method can
// remove these records from the model.
func (w world) live() (n int64) {
	for _, r := range w.records {
		if r.expires.IsZero() || w.now.Before(r.expires) {
			n++
		}
	}
	return n
}
