package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/server/tenants"
)

// location is the part of a request that contains a user or a session.
type location string

const (
	nowhere location = ""
	inPath  location = "path"
	inQuery location = "query"
	inBody  location = "body"
)

// row describes the request of a route.
type row struct {
	// The field status is the status for a caller with permission. The field empty is the status
	// for a tenant without data. If empty is 0, status is also the status for a tenant without
	// data.
	status, empty int
	user, session location
	body          string
	query         string // a parameter of the query, in addition to the user and the session
	// The field selects reports whether the user and the session in the request select data. If
	// this field is false, the request acts for the user and the session that it contains. The
	// field plain is true if the request does not concern an app. The field needs reports whether
	// the request concerns a per-user store.
	selects, plain, needs bool
	// The field owned reports whether the request concerns a run of ann. Only ann and operators can
	// find the runs of ann.
	owned bool
	// The field claim reports whether end users need a workflow claim. Each workflow in the fixture
	// has the same id as a session in the fixture.
	claim bool
}

// rows contains all routes. The test fails for an endpoint without a row.
var rows = map[string]row{
	"POST /api/v1/runs":                                    {status: 200, user: inBody, session: inBody, body: `{"tool":"look"}`},
	"POST /api/v1/sessions/{session_id}/runs":              {status: 200, user: inBody, session: inPath, body: `{"tool":"look"}`},
	"POST /api/v1/runs/code":                               {status: 200, user: inBody, session: inBody, body: `{"language":"javascript","code":"return 1"}`},
	"POST /api/v1/runs/stream":                             {status: 200, user: inBody, session: inBody, body: `{"tool":"look"}`},
	"POST /api/v1/sessions/{session_id}/runs/stream":       {status: 200, user: inBody, session: inPath, body: `{"tool":"look"}`},
	"POST /api/v1/runs/code/stream":                        {status: 200, user: inBody, session: inBody, body: `{"language":"javascript","code":"return 1"}`},
	"GET /api/v1/runs/{run_id}":                            {status: 200, owned: true},
	"POST /api/v1/runs/{run_id}/cancel":                    {status: 200, owned: true},
	"GET /api/v1/approvals":                                {status: 200, user: inQuery},
	"GET /api/v1/approvals/{token}":                        {status: 404},
	"POST /api/v1/approvals/{token}":                       {status: 404, body: `{"decision":"approve"}`},
	"GET /api/v1/tools":                                    {status: 200},
	"GET /api/v1/agents":                                   {status: 200},
	"POST /api/v1/agents/{agent}/turns":                    {status: 200, user: inBody, session: inBody, body: `{}`},
	"POST /api/v1/agents/{agent}/preview":                  {status: 200, user: inBody, session: inBody, body: `{}`},
	"POST /api/v1/agents/{agent}/events":                   {status: 200, user: inBody, session: inBody, body: `{"event":"session:start"}`},
	"POST /api/v1/agents/{agent}/checks":                   {status: 200, user: inBody, session: inBody, body: `{}`},
	"POST /api/v1/agents/{agent}/triggers":                 {status: 200, user: inBody, session: inBody, body: `{}`},
	"POST /api/v1/sessions":                                {status: 201, user: inBody, session: inBody, body: `{"metadata":{"a":1}}`},
	"GET /api/v1/sessions":                                 {status: 200, user: inQuery},
	"GET /api/v1/sessions/{session_id}":                    {status: 200, empty: 404, user: inQuery, session: inPath},
	"PATCH /api/v1/sessions/{session_id}/metadata":         {status: 200, empty: 404, user: inQuery, session: inPath, body: `{"a":2}`},
	"DELETE /api/v1/sessions/{session_id}":                 {status: 200, empty: 404, user: inQuery, session: inPath},
	"GET /api/v1/workflows":                                {status: 200, user: inQuery, claim: true},
	"GET /api/v1/workflows/{workflow_id}":                  {status: 200, empty: 404, user: inQuery, session: inPath, claim: true},
	"POST /api/v1/workflows/{workflow_id}/end":             {status: 200, empty: 404, user: inQuery, session: inPath, claim: true},
	"POST /api/v1/sessions/{session_id}/messages":          {status: 200, user: inBody, session: inPath, body: `{"messages":[{"role":"user","content":"hi"}]}`},
	"GET /api/v1/sleep":                                    {status: 200},
	"POST /api/v1/sleep/pause":                             {status: 200},
	"POST /api/v1/sleep/resume":                            {status: 200},
	"POST /api/v1/sleep/retry":                             {status: 200},
	"POST /api/v1/sessions/{session_id}/files":             {status: 201, user: inQuery, session: inPath, body: "file"},
	"GET /api/v1/sessions/{session_id}/files":              {status: 200, empty: 404, user: inQuery, session: inPath},
	"PATCH /api/v1/sessions/{session_id}/files/{file_id}":  {status: 200, empty: 404, user: inQuery, session: inPath, body: `{"is_active":false}`},
	"DELETE /api/v1/sessions/{session_id}/files/{file_id}": {status: 200, empty: 404, user: inQuery, session: inPath},
	"GET /api/v1/sessions/{session_id}/files/{file_id}":    {status: 200, empty: 404, user: inQuery, session: inPath},
	"GET /api/v1/prompts":                                  {status: 200},
	"POST /api/v1/prompts/{prompt}/render":                 {needs: true, status: 200, user: inBody, session: inBody, body: `{}`},
	"GET /api/v1/stores":                                   {status: 200},
	"GET /api/v1/stores/{store}":                           {status: 200},
	"POST /api/v1/stores":                                  {status: 201, body: `{"technical_name":"NEW","access":"user"}`},
	"PUT /api/v1/stores/{store}":                           {status: 409, body: `{"technical_name":"prefs","access":"user"}`},
	"GET /api/v1/stores/{store}/record":                    {needs: true, status: 200, empty: 404, user: inQuery, session: inQuery},
	"PUT /api/v1/stores/{store}/record":                    {needs: true, status: 200, user: inQuery, session: inQuery, body: `{"visits":5}`},
	"PATCH /api/v1/stores/{store}/record":                  {needs: true, status: 200, user: inQuery, session: inQuery, body: `{"visits":6}`},
	"DELETE /api/v1/stores/{store}/record":                 {needs: true, status: 200, user: inQuery, session: inQuery},
	"GET /api/v1/facts":                                    {status: 200, user: inQuery, session: inQuery},
	"GET /api/v1/facts/{path}":                             {needs: true, status: 200, user: inQuery, session: inQuery},
	"PUT /api/v1/facts/{path}":                             {needs: true, status: 200, user: inQuery, session: inQuery, body: `"it"`},
	"DELETE /api/v1/facts/{path}":                          {needs: true, status: 200, user: inQuery, session: inQuery},
	"GET /api/v1/memory/blocks":                            {status: 200, user: inQuery},
	"GET /api/v1/memory/declarations":                      {status: 200},
	"GET /api/v1/memory/blocks/{block}":                    {status: 200, empty: 404, user: inQuery},
	"PUT /api/v1/memory/blocks/{block}":                    {status: 409, empty: 200, user: inQuery, body: `{"content":"- changed","expected_updated_at":null}`},
	"DELETE /api/v1/memory/blocks/{block}":                 {status: 409, user: inQuery, query: "expected_updated_at=2020-01-01T00:00:00Z"},
	"POST /api/v1/memory/recall":                           {status: 200, user: inBody, body: `{"query":"` + marker + `"}`},
	"POST /api/v1/memory/context":                          {status: 200, user: inBody, body: `{"message":"` + marker + `","memory_policy":{"archival_mode":"auto"}}`},
	"GET /api/v1/collections":                              {status: 200},
	"GET /api/v1/collections/{collection}":                 {status: 200},
	"GET /api/v1/collections/{collection}/entries":         {status: 200, user: inQuery, session: inQuery},
	"GET /api/v1/collections/{collection}/entry":           {needs: true, status: 200, empty: 404, user: inQuery, session: inQuery, query: "id=e1"},
	"POST /api/v1/collections/{collection}/entries":        {needs: true, status: 200, user: inQuery, session: inQuery, body: `{"entries":[{"id":"e1","content":"mine"}]}`},
	"POST /api/v1/collections/{collection}/files":          {needs: true, status: 200, user: inQuery, session: inQuery, body: "file"},
	"POST /api/v1/collections/{collection}/reembed":        {status: 200},
	"POST /api/v1/collections/{collection}/recall":         {needs: true, status: 200, user: inQuery, session: inQuery, body: `{"query":"` + marker + `"}`},
	"POST /api/v1/collections/{collection}/forget":         {needs: true, status: 200, user: inQuery, session: inQuery, body: `{"id":"e1"}`},
	"GET /api/v1/stores/{store}/records":                   {status: 200, user: inQuery, session: inQuery, selects: true},
	"DELETE /api/v1/stores/{store}/records":                {status: 200},
	"DELETE /api/v1/users/{user_id}":                       {status: 200, user: inPath, selects: true},
	"GET /api/v1/users/{user_id}/export":                   {status: 200, user: inPath, selects: true},
	"GET /api/v1/ledger":                                   {status: 200, user: inQuery, session: inQuery, selects: true},
	"GET /api/v1/backup":                                   {status: 200, plain: true},
	"GET /api/v1/usage":                                    {status: 200, plain: true},
	"GET /api/v1/whoami":                                   {status: 200, plain: true},
	"GET /api/v1/export":                                   {status: 200},
	"POST /api/v1/import":                                  {status: 200, body: `{"app":"shop","memory":{"NEW":{"access":"user"}}}`},
}

// marker is part of all data of ann.
const marker = "only-ann-knows"

// fixture is a service with two apps and data of ann and bob.
type fixture struct {
	t     *testing.T
	api   *httpapi.Server
	count int
}

func newWorld(t *testing.T) *fixture {
	t.Helper()
	var served *tenants.Apps
	s := newService(t, func(o *httpapi.Options) { served, o.UserMetadata = o.Apps, []string{"a"} })
	shopApp, _ := app.Load(shopFiles, "app.yaml")
	desk, problems := app.Load(fstest.MapFS{"app.yaml": {Data: []byte("app: desk\n")}}, "app.yaml")
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	if err := served.Serve(t.Context(), []*app.App{shopApp, desk}); err != nil {
		t.Fatal(err)
	}
	return &fixture{t: t, api: s.api}
}

// seed contains the ids of data of ann and bob. Each case uses its own data.
type seed struct{ annSession, bobSession, file, store, run string }

func (w *fixture) send(who, method, target, body, contentType string) reply {
	r := httptest.NewRequestWithContext(w.t.Context(), method, target, strings.NewReader(body))
	if who != "" {
		r.Header.Set("Authorization", "Bearer "+who)
	}
	if body != "" {
		r.Header.Set("Content-Type", contentType)
	}
	recorded := httptest.NewRecorder()
	w.api.ServeHTTP(recorded, r)
	return reply{recorded.Result(), recorded.Body.Bytes()}
}

// The method must sends a request as the operator and expects success.
func (w *fixture) must(method, target, body string) reply {
	w.t.Helper()
	contentType := "application/json"
	if body == "file" {
		body, contentType = form("notes.txt", "text/plain", marker)
	}
	r := w.send("operator", method, target, body, contentType)
	if r.StatusCode >= 300 {
		w.t.Fatalf("%s %s = %s", method, target, r)
	}
	return r
}

func (w *fixture) seed() seed {
	w.t.Helper()
	w.count++
	d := seed{annSession: fmt.Sprintf("ann-%d", w.count), bobSession: fmt.Sprintf("bob-%d", w.count), store: fmt.Sprintf("new%d", w.count)}
	for _, s := range [][3]string{{d.annSession, "ann", marker}, {d.bobSession, "bob", "hello"}} {
		w.must("POST", "/api/v1/sessions?app=shop", `{"session_id":"`+s[0]+`","user_id":"`+s[1]+`","metadata":{"note":"`+s[2]+`"}}`)
	}
	for _, s := range [][2]string{{d.annSession, "ann"}, {d.bobSession, "bob"}} {
		w.must("PUT", "/api/v1/facts/workflow.step?app=shop&user_id="+s[1]+"&workflow_id="+s[0], `"`+marker+`"`)
	}
	for _, b := range [][3]string{{"core", "ann", marker}, {"archival", "ann", marker}, {"core", "bob", "- hello"}} {
		// The block may already exist.
		w.send("operator", "PUT", "/api/v1/memory/blocks/"+b[0]+"?app=shop&user_id="+b[1], `{"content":"`+b[2]+`"}`, "application/json")
	}
	w.must("POST", "/api/v1/collections/notebook/entries?app=shop&user_id=ann", `{"entries":[{"id":"e1","content":"`+marker+`"}]}`)
	w.must("POST", "/api/v1/collections/notebook/entries?app=shop&user_id=bob", `{"entries":[{"id":"e1","content":"hello"}]}`)
	w.must("PUT", "/api/v1/stores/prefs/record?app=shop&user_id=ann", `{"language":"`+marker+`"}`)
	w.must("PUT", "/api/v1/stores/prefs/record?app=shop&user_id=bob", `{"language":"xx"}`)
	var f apitypes.Artifact
	w.must("POST", "/api/v1/sessions/"+d.annSession+"/files?app=shop&user_id=ann", "file").into(w.t, &f)
	d.file = f.ID
	return d
}

// seedRun starts a run of ann with a Result that contains the marker.
func (w *fixture) seedRun(d seed) string {
	w.t.Helper()
	r := w.send("ann", "POST", "/api/v1/sessions/"+d.annSession+"/runs?app=shop", `{"tool":"look"}`, "application/json")
	id := r.Header.Get("Run-Id")
	if r.StatusCode != 200 || id == "" || !contains(r, marker) {
		w.t.Fatalf("ann's run = %s (%q)", r, id)
	}
	return id
}

// snapshot returns all data of ann that a request could change.
func (w *fixture) snapshot(d seed) string {
	var b strings.Builder
	for _, target := range []string{
		"/sessions/" + d.annSession + "?user_id=ann", "/sessions/" + d.bobSession + "?user_id=bob", "/sessions/" + d.annSession + "/files?user_id=ann", "/stores/prefs/record?user_id=ann",
		"/stores/prefs/record?user_id=bob", "/stores/prefs/records", "/stores",
		"/facts/workflow.step?workflow_id=" + d.annSession, "/workflows/" + d.annSession,
		"/collections/notebook/entries", "/memory/blocks?scope=all&user_id=ann", "/memory/blocks?scope=all&user_id=bob",
	} {
		sep := "?"
		if strings.Contains(target, "?") {
			sep = "&"
		}
		r := w.send("operator", "GET", "/api/v1"+target+sep+"app=shop", "", "")
		fmt.Fprintf(&b, "%s %d %s\n", target, r.StatusCode, r.body)
	}
	return b.String()
}

// matrixRequest is a request in the matrix: its caller and its target.
type matrixRequest struct {
	who, app, user string
	// session is the owner of the session in the request: ann, bob or none.
	session string
}

func (a matrixRequest) String() string {
	return fmt.Sprintf("as %q, app %q, user %q, session of %q", a.who, a.app, a.user, a.session)
}

// request returns the HTTP request for the matrixRequest.
func (r row) request(route httpapi.Route, a matrixRequest, d seed) (target, body, contentType string) {
	session := map[string]string{"ann": d.annSession, "bob": d.bobSession}[a.session]
	return r.requestTo(route, matrixTarget{app: a.app, user: a.user, session: session, file: d.file, run: d.run}, d)
}

// requestTo returns a request for a target.
func (r row) requestTo(route httpapi.Route, in matrixTarget, d seed) (target, body, contentType string) {
	user, session, query := in.user, in.session, url.Values{}
	if in.app != "" && !r.plain {
		query.Set("app", in.app)
	}
	members := map[string]any{}
	contentType, body = "application/json", r.body
	if strings.HasPrefix(body, "{") {
		_ = json.Unmarshal([]byte(strings.ReplaceAll(body, "NEW", d.store)), &members)
	}
	put := func(at location, name, value string) {
		switch {
		case value == "":
		case at == inQuery:
			query.Set(name, value)
		case at == inBody:
			members[name] = value
		}
	}
	if name, value, ok := strings.Cut(r.query, "="); ok {
		query.Set(name, value)
	}
	put(r.user, "user_id", user)
	put(r.session, "session_id", session)
	put(r.user, "workflow_id", in.workflow)
	switch {
	case body == "file":
		body, contentType = form("notes.txt", "text/plain", "mine")
	case body != "":
		text, _ := json.Marshal(members)
		body = string(text)
	}
	target = strings.NewReplacer("{session_id}", session, "{workflow_id}", session, "{file_id}", in.file, "{store}", "prefs", "{path}", "user.language", "{agent}", "Concierge", "{block}", "core", "{collection}", "notebook", "{prompt}", "greeting", "{user_id}", user, "{run_id}", in.run).Replace(route.Path)
	return target + "?" + query.Encode(), body, contentType
}

// expected returns the expected status of the response.
func (r row) expected(route httpapi.Route, a matrixRequest) int {
	p, known := roles[a.who]
	switch {
	case !known:
		return 401 // without valid credentials
	case route.Permission == "":
		return r.status
	case !slices.ContainsFunc(auth.Table, func(rule auth.Rule) bool {
		return rule.Permission == route.Permission && (slices.Contains(rule.Roles, p.Role) || p.CanRunCode && slices.Contains(rule.WithCode, p.Role))
	}):
		return 403 // by auth.Table
	case r.plain:
		return r.status
	case a.app == "" && len(p.Apps) == 0:
		return 400 // the request does not determine the app
	case a.app != "" && len(p.Apps) > 0 && !slices.Contains(p.Apps, a.app) || a.app == "" && p.Apps[0] == "another" || a.app == "nothing":
		return 404 // apps of others are not visible
	}
	if r.claim && p.Role == auth.User {
		return 403
	}
	if r.owned && !(p.Role == auth.Operator && p.Tenant == "acme") && a.who != "ann" {
		return 404
	}
	if r.selects {
		return r.status
	}
	acts := p.User // the effective user
	if r.user != nowhere && a.user != "" {
		if p.User != "" && a.user != p.User {
			return 403 // a user cannot act for others
		}
		acts = a.user
	}
	if p.Tenant == "other" && r.needs && acts == "" {
		return 400 // the user is missing
	}
	if p.Tenant == "other" {
		if r.empty != 0 {
			return r.empty
		}
		return r.status
	}
	if r.session != nowhere && acts != a.session && acts != "" { // without a user, a key acts for the user of the session
		return 403 // a session belongs to one user
	}
	if strings.Contains(route.Path, "{file_id}") && a.session != "ann" {
		return 404 // the file is in ann's session
	}
	return r.status
}

// cases returns the requests for a route. Each request varies one parameter.
func (r row) cases() []matrixRequest {
	var list []matrixRequest
	for _, who := range []string{"operator", "runtime", "coder", "read-only", "approver", "backup", "metering", "ann", "bob", "", "stranger", "elsewhere", "no app", "one app"} {
		list = append(list, matrixRequest{who, "shop", "ann", "ann"}, matrixRequest{who, "", "ann", "ann"}, matrixRequest{who, "nothing", "ann", "ann"})
		if r.user != nowhere && r.user != inPath {
			list = append(list, matrixRequest{who, "shop", "bob", "ann"})
			if r.session != nowhere {
				list = append(list, matrixRequest{who, "shop", "", "ann"}, matrixRequest{who, "shop", "", "bob"}, matrixRequest{who, "shop", "bob", "bob"})
			}
		}
		if r.session != nowhere {
			list = append(list, matrixRequest{who, "shop", "ann", "bob"})
		}
	}
	return list
}

// outcome returns the status of a response. If the response is a stream with a problem event, the
// result is the status of the problem.
func outcome(r reply) int {
	_, problem, ok := strings.Cut(string(r.body), "event: problem\ndata: ")
	if !ok || r.Header.Get("Content-Type") != "text/event-stream" {
		return r.StatusCode
	}
	var p struct{ Status int }
	_ = json.Unmarshal([]byte(strings.TrimSpace(problem)), &p)
	return p.Status
}

// TestAuthorization sends requests to every route. On each route, every caller sends one request
// for each user. The statuses must follow the permission table and the rules. A response to a
// caller other than ann must contain no data of ann. A request that is rejected, or that another
// user sends, must not change ann's data.
func TestAuthorization(t *testing.T) {
	for _, route := range newService(t).api.Routes() {
		name := route.Method + " " + route.Path
		t.Run(name, func(t *testing.T) {
			r, ok := rows[name]
			if !ok {
				t.Fatal("the route has no row: add its parameters and status")
			}
			w := newWorld(t)
			for _, a := range r.cases() {
				w.try(route, r, a)
			}
		})
	}
}

// try sends one request of the matrix and checks the effects of this request.
func (w *fixture) try(route httpapi.Route, r row, a matrixRequest) {
	w.t.Helper()
	d := w.seed()
	if r.owned {
		d.run = w.seedRun(d)
	}
	before := w.snapshot(d)
	target, body, contentType := r.request(route, a, d)
	got := w.send(a.who, route.Method, target, body, contentType)
	want := r.expected(route, a)
	if outcome(got) != want {
		w.t.Errorf("%s = %s; want %d", a, got, want)
	}
	stranger := slices.Contains([]string{"", "stranger", "elsewhere", "no app", "bob", "read-only", "approver", "backup", "metering"}, a.who)
	if (stranger || want >= 400) && contains(got, marker) {
		w.t.Errorf("%s reveals data of ann: %s", a, got)
	}
	if want >= 400 || a.who == "elsewhere" {
		if after := w.snapshot(d); after != before {
			w.t.Errorf("%s changes data of ann from\n%s\nto\n%s", a, before, after)
		}
	}
	if want == 401 && got.Header.Get("WWW-Authenticate") == "" {
		w.t.Errorf("%s: the response has no WWW-Authenticate header", a)
	}
	if want == 401 && !got.Close && got.Header.Get("Connection") != "close" {
		w.t.Errorf("%s: the connection stays open", a)
	}
}

// A row without a route would not be tested.
func TestMatrixHasNoUnknownRoutes(t *testing.T) {
	known := map[string]bool{}
	for _, route := range newService(t).api.Routes() {
		known[route.Method+" "+route.Path] = true
	}
	for name := range rows {
		if !known[name] {
			t.Errorf("the route %s does not exist", name)
		}
	}
}

// form returns two values: a form that contains a file, and the content type of this form.
func form(filename, mediaType, content string) (body, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	header := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="` + filename + `"`}}
	if mediaType != "" {
		header.Set("Content-Type", mediaType)
	}
	part, _ := w.CreatePart(header)
	_, _ = part.Write([]byte(content))
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}
