package httpapi_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi"
)

// foreignID describes an id in a request. The sender of the request cannot access the id, because
// the id belongs to another user, key, tenant or app.
type foreignID struct {
	kind string
	// The field who is the role of the sender. The field user is the user in the request.
	who, user string
	// The field name contains a function that sets an id in the request.
	name func(r *matrixTarget, id string)
	// The field existing contains a function that returns an id that exists.
	existing func(seed) string
	// The field applies contains a function that reports whether requests for a route can contain
	// an id of this kind.
	applies func(route httpapi.Route, r row) bool
}

// matrixTarget contains the ids in a request.
type matrixTarget struct{ app, user, session, workflow, file, run string }

func hasSession(_ httpapi.Route, r row) bool { return r.session != nowhere }

func hasUser(_ httpapi.Route, r row) bool { return r.user != nowhere }

func hasParameter(name string) func(httpapi.Route, row) bool {
	return func(route httpapi.Route, _ row) bool { return strings.Contains(route.Path, name) }
}

// namesWorkflow reports whether a request can contain a workflow in addition to its session.
func namesWorkflow(route httpapi.Route, _ row) bool {
	for _, part := range []string{"/runs", "/agents/", "/facts"} {
		if strings.Contains(route.Path, part) && !strings.Contains(route.Path, "{run_id}") {
			return true
		}
	}
	return false
}

func setSession(r *matrixTarget, id string)  { r.session = id }
func setUser(r *matrixTarget, id string)     { r.user = id }
func setWorkflow(r *matrixTarget, id string) { r.workflow = id }
func setFile(r *matrixTarget, id string)     { r.file = id }
func setRun(r *matrixTarget, id string)      { r.run = id }
func setApp(r *matrixTarget, id string)      { r.app = id }

func (d seed) ofBob() string { return d.bobSession }
func (d seed) ofAnn() string { return d.annSession }
func (d seed) aFile() string { return d.file }
func (d seed) aRun() string  { return d.run }

// foreignIDs contains all combinations of a kind of id and a kind of caller to whom the id does not
// belong.
var foreignIDs = []foreignID{
	{"a session of another user", "ann", "ann", setSession, seed.ofBob, hasSession},
	{"a session of another user without a user", "ann", "", setSession, seed.ofBob, hasSession},
	{"a session of another tenant", "elsewhere", "ann", setSession, seed.ofAnn, hasSession},
	{"a session for credentials of another app", "no app", "ann", setSession, seed.ofAnn, hasSession},
	{"another user", "ann", "", setUser, func(seed) string { return "bob" }, hasUser},
	{"a user of another tenant", "elsewhere", "", setUser, func(seed) string { return "ann" }, hasUser},
	{"a workflow of another user", "ann", "ann", setWorkflow, seed.ofBob, namesWorkflow},
	{"a workflow of another tenant", "elsewhere", "ann", setWorkflow, seed.ofBob, namesWorkflow},
	{"a run of another user", "bob", "", setRun, seed.aRun, hasParameter("{run_id}")},
	{"a run of another tenant", "elsewhere", "", setRun, seed.aRun, hasParameter("{run_id}")},
	{"a run of another key", "runtime", "", setRun, seed.aRun, hasParameter("{run_id}")},
	{"a file of another user", "bob", "bob", setFile, seed.aFile, hasParameter("{file_id}")},
	{"a file of another tenant", "elsewhere", "ann", setFile, seed.aFile, hasParameter("{file_id}")},
	{"an app of others", "no app", "ann", setApp, func(seed) string { return "shop" }, func(_ httpapi.Route, r row) bool { return !r.plain }},
}

// TestForeignIDs sends requests to every route that accepts ids. Each request contains a foreign
// id. The response must be the same as for an id that does not exist.
func TestForeignIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, route := range newService(t).api.Routes() {
		name := route.Method + " " + route.Path
		t.Run(name, func(t *testing.T) {
			r := rows[name]
			world := func() (*fixture, seed) { return newForeignWorld(t) }
			if route.Method == http.MethodGet { // GET requests can share a service
				world = sync.OnceValues(world)
			}
			send := func(id foreignID, value func(seed) string) string {
				w, d := world()
				return w.sendForeign(route, r, id, d, value(d))
			}
			for _, id := range foreignIDs {
				if !id.applies(route, r) {
					continue
				}
				seen[id.kind] = true
				got := send(id, id.existing)
				want := send(id, func(seed) string { return "absent" })
				if got != want {
					t.Errorf("%s (as %s):\nif it exists:        %s\nif it does not exist: %s", id.kind, id.who, got, want)
				}
			}
		})
	}
	for _, id := range foreignIDs {
		if !seen[id.kind] {
			t.Errorf("no route has %s", id.kind)
		}
	}
}

// newForeignWorld returns a new service with data of ann and bob.
func newForeignWorld(t *testing.T) (*fixture, seed) {
	t.Helper()
	w := newWorld(t)
	d := w.seed()
	d.run = w.seedRun(d)
	return w, d
}

// sendForeign sends a request with an id, and returns the response without the parts that differ
// between equal requests.
func (w *fixture) sendForeign(route httpapi.Route, r row, id foreignID, d seed, value string) string {
	w.t.Helper()
	in := matrixTarget{app: "shop", user: id.user, file: d.file, run: d.run, session: d.annSession}
	if id.who == "bob" {
		in.session = d.bobSession
	}
	id.name(&in, value)
	target, body, contentType := r.requestTo(route, in, d)
	got := w.send(id.who, route.Method, target, body, contentType)
	text := http.StatusText(got.StatusCode) + " " + unpacked(w.t, got.body)
	for _, quote := range []string{`"`, `\"`} {
		text = strings.ReplaceAll(text, quote+value+quote, quote+"<id>"+quote)
	}
	return varying.ReplaceAllString(text, "<varying>")
}

// unpacked returns the names and the contents of the files in an archive, but not the times of the
// files. If the body is not an archive, unpacked returns the body unchanged.
func unpacked(t *testing.T, body []byte) string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return string(body)
	}
	var text strings.Builder
	for _, f := range archive.File {
		file, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(file)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(f.Name + "\n" + string(content) + "\n")
	}
	return text.String()
}

// varying matches times, durations, new ids, revisions of blocks and signed URLs.
var varying = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|"[a-z]+_(ms|bytes)":[0-9.]+|"revision":\d{13}|\b[a-z]+_[0-9A-Z]{26}\b|/files/[\w-]+`)

// TestForeignIDsOverMCP runs a tool and a turn for MCP requests with a foreign id. The error must
// be the same as for an id that does not exist.
func TestForeignIDsOverMCP(t *testing.T) {
	w := newWorld(t)
	d := w.seed()
	for _, tt := range []struct{ who, parameter, existing string }{
		{"ann", "session_id", d.bobSession}, {"ann", "workflow_id", d.bobSession}, {"ann", "user_id", "bob"}, {"no app", "app", "shop"},
	} {
		got, want := w.callOverMCP(tt.who, tt.parameter, tt.existing), w.callOverMCP(tt.who, tt.parameter, "absent")
		if got != want || strings.Contains(got, "<nil>") {
			t.Errorf("%s as %s:\nif it exists:         %s\nif it does not exist: %s", tt.parameter, tt.who, got, want)
		}
	}
}

// callOverMCP admits an MCP request with an id, performs a run and a turn for the caller of the
// request, and returns the errors.
func (w *fixture) callOverMCP(who, parameter, id string) string {
	w.t.Helper()
	query := url.Values{"app": {"shop"}}
	query.Set(parameter, id)
	r := httptest.NewRequestWithContext(w.t.Context(), "POST", "/mcp?"+query.Encode(), nil)
	r.Header.Set("Authorization", "Bearer "+who)
	admitted, err := w.api.Access().Admit(r, auth.Run)
	text := fmt.Sprint(err)
	if err == nil {
		defer admitted.Release()
		_, run := admitted.Host.Run(w.t.Context(), host.Invocation{Tool: "look", Caller: admitted.Caller})
		_, turn := admitted.Host.Agents().Turn(w.t.Context(), host.Turn{Agent: "Concierge", Caller: admitted.Caller})
		text = fmt.Sprint(run, turn)
	}
	return strings.ReplaceAll(text, strconv.Quote(id), "<id>")
}
