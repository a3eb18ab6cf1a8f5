package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"path"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/extract"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/server/tenants"
)

// Prefix begins the path of every operation.
const Prefix = "/api/v1"

// Options are what a Server is made of. Apps and Authenticate are required.
type Options struct {
	Apps *tenants.Apps
	// Authenticate finds out who sent a request; its errors are auth.Refusal or faults.
	Authenticate func(*http.Request) (auth.Principal, error)
	// Engines describe the engines of the hosts: the languages of code, and the extensions of sources in imported documents.
	// Default: any language, and the hosts report those that they do not have; the extensions of toolrun's own engines.
	Engines []engine.Info
	// Documents reads the text of uploaded files. Default: none is read.
	Documents *extract.Reader
	// Links signs the addresses of files. Default: files cannot be downloaded but with credentials.
	Links *Links
	// UserMetadata are the keys of a session's metadata, at its top, that credentials of a user may set. Default: none.
	UserMetadata []string
	// Rate is how many requests a second each principal may send, Burst how many at once. Default: as many as they like.
	Rate  float64
	Burst int
	// BodyBytes is how much memory the JSON bodies of requests take at a time, those of MCP included. Default: the constant
	// DefaultBodyBytes.
	BodyBytes int64
	// Admitted is called with the context of each request that was admitted, by its credentials or the address of a file, before
	// it is answered. Default: nothing.
	Admitted func(context.Context)
	// Limited is called with the tenant of each request that is refused because its principal sends more than Rate. Default:
	// nothing.
	Limited func(tenant string)
	// Recheck is how often the credentials of an open stream are looked at again: it ends when they are good no longer.
	// Default: 5 seconds.
	Recheck time.Duration
	// Heartbeat is how often a comment is sent in a stream of events, so that nothing on the way takes it for dead.
	// Default: 15 seconds.
	Heartbeat time.Duration
	// Backup makes a copy of everything that is stored, of all tenants. It is called once at a time. Default: there are
	// no backups.
	Backup func(context.Context) (Backup, error)
	// Version is that of the program.
	Version string
	// Logger gets what no client may see. Default: discard.
	Logger *slog.Logger
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	logger  *slog.Logger
	api     huma.API
	mux     *http.ServeMux
	routes  []Route
	decoder decoder
	access  *Access
	files   *fileHandler
}

// Route is an operation of the API with the right that it takes.
type Route struct {
	Method, Path string
	// Right is "" where known credentials suffice.
	Permission auth.Permission
}

var problemType = reflect.TypeFor[apitypes.Problem]()

// useProblems has the framework answer with problem documents of ours. Its hooks are those of all servers of a process.
var useProblems = sync.OnceFunc(func() {
	huma.NewError = newProblem
	huma.NewErrorWithContext = func(ctx huma.Context, status int, text string, errs ...error) huma.StatusError {
		if b := bodyOf(ctx.Context()); b != nil && b.err != nil {
			return problemOf(b.err)
		}
		return newProblem(status, text, errs...)
	}
	// A member is its name, however that of a Go field is matched: two spellings of one would be two values.
	huma.ValidateStrictCasing = true
})

// New makes a Server.
func New(opts Options) (*Server, error) {
	if opts.Apps == nil || opts.Authenticate == nil {
		return nil, errors.New("httpapi: Options.Apps and Options.Authenticate are required")
	}
	if opts.Admitted == nil {
		opts.Admitted = func(context.Context) {}
	}
	if opts.Limited == nil {
		opts.Limited = func(string) {}
	}
	if opts.Recheck <= 0 {
		opts.Recheck = defaultRecheck
	}
	if opts.Heartbeat <= 0 {
		opts.Heartbeat = defaultHeartbeat
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	useProblems()
	s := &Server{logger: opts.Logger, mux: http.NewServeMux(), decoder: decoder{members: map[string]bool{}}}
	s.api = humago.New(s.mux, describe(opts.Version, s.decoder.format()))
	s.register(opts)
	s.acceptPlainPatches()
	nameLanguages(s.api, engine.Languages(opts.Engines))
	s.mux.HandleFunc("/", s.notFound)
	return s, nil
}

// register adds the operations of all resources.
func (s *Server) register(opts Options) {
	runs := newRegistry(microseconds)
	s.access = newAccess(opts, runs)
	stores := &storeHandler{opts.Apps}
	// Sources of engines that are missing here do not matter to an import, which leaves tools out.
	extensions := union(engine.Extensions(opts.Engines), app.Extensions())
	(&runHandler{access: s.access, runs: runs, logger: opts.Logger, heartbeat: opts.Heartbeat}).register(s)
	addSessions(s)
	s.files = newFileHandler(opts)
	s.files.register(s)
	addPrompts(s)
	stores.register(s)
	addRecords(s)
	addLedger(s)
	(&userHandler{access: s.access, logger: opts.Logger}).register(s)
	(&transferHandler{stores: stores, extensions: extensions}).register(s)
	(&backupHandler{copy: opts.Backup, logger: opts.Logger}).register(s)
	(&usageHandler{opts.Apps}).register(s)
}

func describe(version string, format huma.Format) huma.Config {
	config := huma.DefaultConfig("toolrun", version)
	config.Info.Description = "Run small tools that remember things: each call in a fresh sandbox, as one transaction."
	config.Info.License = &huma.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"}
	config.Servers = []*huma.Server{{URL: "/"}}
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "/openapi", "", ""
	config.CreateHooks = nil                                                  // they would add a link to a schema to every answer
	config.Formats = map[string]huma.Format{jsonType: format, "json": format} // json is what follows a +
	config.RejectUnknownQueryParameters = true
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", Description: "An API key, or a token (JWT) of the platform's issuer"},
		"key":    {Type: "apiKey", In: "header", Name: "X-API-Key", Description: "An API key"},
	}
	config.Security = []map[string][]string{{"bearer": {}}, {"key": {}}}
	config.Tags = []*huma.Tag{
		{Name: "runs", Description: "Run tools and code"}, {Name: "sessions", Description: "Start, change and end sessions"},
		{Name: "files", Description: "Files of a session"}, {Name: "prompts", Description: "Render prompts"},
		{Name: "stores", Description: "Declarations of memory stores"}, {Name: "records", Description: "What is remembered, for operators"},
		{Name: "ledger", Description: "Who read and wrote what"}, {Name: "service", Description: "The service itself"},
	}
	return config
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w = newDeadlineWriter(w)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p != http.ErrAbortHandler {
			s.logger.Error("a request crashed", "panic", p, "stack", string(debug.Stack()))
		}
		panic(http.ErrAbortHandler) // the answer is lost: whether it began is not known here
	}()
	if p := r.URL.EscapedPath(); p != path.Clean(p) { // which the mux would answer with another address
		WriteProblem(w, errNoPath)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Access returns what admits requests, for handlers of other surfaces.
func (s *Server) Access() *Access { return s.access }

// Handle adds a handler of another surface: it has to look after credentials itself.
func (s *Server) Handle(pattern string, h http.Handler) { s.mux.Handle(pattern, h) }

// Pattern returns the pattern that answers a request, for metrics: it holds no ids.
func (s *Server) Pattern(r *http.Request) string {
	_, pattern := s.mux.Handler(r)
	return pattern
}

// Routes returns every operation.
func (s *Server) Routes() []Route { return s.routes }

// OpenAPI returns the description of the API as JSON (OpenAPI 3.1).
func (s *Server) OpenAPI() ([]byte, error) { return json.MarshalIndent(s.api.OpenAPI(), "", "  ") }

// nothing answers a request that no operation is for.
func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	if allowed := s.allowedMethods(r); len(allowed) > 0 {
		p := problemOfFault(abi.Faultf(abi.InvalidArgument, "this path takes other methods"), http.StatusMethodNotAllowed)
		p.header = http.Header{"Allow": {strings.Join(allowed, ", ")}}
		WriteProblem(w, p)
		return
	}
	WriteProblem(w, errNoPath)
}

var errNoPath = abi.Faultf(abi.NotFound, "there is nothing at this path")

// methods are those that the path of a request takes.
func (s *Server) allowedMethods(r *http.Request) []string {
	var allowed []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodPatch, http.MethodPost, http.MethodPut} {
		other := *r
		other.Method = method
		if pattern := s.Pattern(&other); pattern != "/" && pattern != "" {
			allowed = append(allowed, method)
		}
	}
	return allowed
}

// takePatches lets merge patches be sent as plain JSON too, as many clients do.
func (s *Server) acceptPlainPatches() {
	for _, item := range s.api.OpenAPI().Paths {
		if item.Patch == nil {
			continue
		}
		if content := item.Patch.RequestBody.Content; content[patchType] != nil {
			content[jsonType] = content[patchType]
		}
	}
}

// nameLanguages restricts the language of code to those that the engines have.
func nameLanguages(api huma.API, languages []engine.Language) {
	language := api.OpenAPI().Components.Schemas.Map()["CodeRequest"].Properties["language"]
	for _, l := range languages {
		language.Enum = append(language.Enum, l.Name)
	}
	language.PrecomputeMessages()
}

// writeJSON writes an answer, whose reader may have gone.
func writeJSON(w io.Writer, v any) { _ = json.NewEncoder(w).Encode(v) }

func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

// targeted is an input that embeds apitypes.Target.
type appInput interface{ AppID() string }

// add adds an operation on an app for who has a right.
func add[I appInput, O any](s *Server, permission auth.Permission, op huma.Operation, handle func(context.Context, *call, *I) (*O, error)) {
	addPlain(s, permission, op, func(ctx context.Context, in *I) (*O, error) {
		c, err := s.access.open(ctx, (*in).AppID())
		if err != nil {
			return nil, err
		}
		defer c.release()
		return handle(ctx, c, in)
	})
}

// addPlain adds an operation for who has a right.
func addPlain[I, O any](s *Server, permission auth.Permission, op huma.Operation, handle func(context.Context, *I) (*O, error)) {
	op.Path = Prefix + op.Path
	op.Middlewares = append(huma.Middlewares{s.access.middleware(permission)}, op.Middlewares...)
	op.Errors = append(slices.Clone(commonErrors), op.Errors...)
	switch op.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		op.Errors = append(op.Errors, bodyErrors...)
	}
	if op.Method != http.MethodGet {
		op.Errors = append(op.Errors, writeErrors...)
	}
	s.routes = append(s.routes, Route{op.Method, op.Path, permission})
	s.decoder.add(reflect.TypeFor[I]())
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		bodyOf(ctx).decoded()
		out, err := handle(ctx, in)
		if err != nil {
			return nil, loggedProblem(s.logger, err)
		}
		return out, nil
	})
}

// What operations answer where they fail: any, those with a body, and those that change something.
var (
	commonErrors = []int{400, 401, 403, 404, 410, 422, 429, 500, 503, 504}
	bodyErrors   = []int{408, 413, 415}
	writeErrors  = []int{409, 507}
)

// loggedProblem makes a problem of an error, and logs what no client may see.
func loggedProblem(logger *slog.Logger, err error) *problem {
	p := problemOf(err)
	if p.Status == http.StatusInternalServerError {
		logger.Error("a request failed", "error", err)
	}
	return p
}
