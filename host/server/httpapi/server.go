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

// Prefix is the path prefix of every operation.
const Prefix = "/api/v1"

// Options configure a Server. Apps and Authenticate are required. All other fields have defaults.
type Options struct {
	Apps *tenants.Apps
	// Authenticate identifies the sender of a request. Authenticate returns an auth.AuthError or a
	// fault on failure.
	Authenticate func(*http.Request) (auth.Principal, error)
	// Engines describe the engines of the hosts: the languages of code and the file extensions of
	// sources in imported documents. By default any language is accepted, and the hosts report
	// missing languages. By default, the file extensions of the bundled engines are accepted.
	Engines []engine.Info
	// Documents extracts the text of uploaded files. Default: no text is extracted.
	Documents *extract.Reader
	// Links signs the URLs of files. Default: downloads require credentials.
	Links *Links
	// UserMetadata lists the top-level keys of session metadata that end users may set. Default:
	// none.
	UserMetadata []string
	// Rate is the number of requests per second that each principal may send. Burst is the number
	// of requests that each principal may send at once. Default: unlimited.
	Rate  float64
	Burst int
	// BodyBytes limits the memory of all JSON request bodies, including MCP requests. Default:
	// DefaultBodyBytes.
	BodyBytes int64
	// Admitted is called with the context of each request that was admitted by credentials or by a
	// signed URL. Admitted is called before the response begins. Default: no call.
	Admitted func(context.Context)
	// Limited is called with the tenant of each request that is rejected because its principal
	// exceeds Rate. Default: no call.
	Limited func(tenant string)
	// Recheck is the interval at which the credentials of an open stream are verified again. The
	// stream ends when its credentials are no longer valid. Default: 5 seconds.
	Recheck time.Duration
	// Heartbeat is the interval at which an event stream sends a comment, so that proxies keep the
	// connection open. Default: 15 seconds.
	Heartbeat time.Duration
	// Backup copies the stored data of all tenants. Calls do not overlap. Default: backups are
	// unavailable.
	Backup func(context.Context) (Backup, error)
	// Version is the version of the program.
	Version string
	// Logger receives details that clients must not see. Default: they are discarded.
	Logger *slog.Logger
}

// Server is an HTTP handler that serves the API. Server is safe for concurrent use.
type Server struct {
	logger  *slog.Logger
	api     huma.API
	mux     *http.ServeMux
	routes  []Route
	decoder decoder
	access  *Access
	files   *fileHandler
}

// Route is an operation of the API and the permission that it requires.
type Route struct {
	Method, Path string
	// Permission is "" if any valid credentials suffice.
	Permission auth.Permission
}

var problemType = reflect.TypeFor[apitypes.Problem]()

// useProblems makes the framework respond with the problem documents of this package. The
// framework's hooks are global to the process.
var useProblems = sync.OnceFunc(func() {
	huma.NewError = newProblem
	huma.NewErrorWithContext = func(ctx huma.Context, status int, text string, errs ...error) huma.StatusError {
		if b := bodyOf(ctx.Context()); b != nil && b.err != nil {
			return problemOf(b.err)
		}
		return newProblem(status, text, errs...)
	}
	// Member names are case-sensitive. Without this setting, a body could contain the same member
	// in two spellings.
	huma.ValidateStrictCasing = true
})

// New returns a Server.
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
	allowNoError(s.api)
	s.mux.HandleFunc("/", s.notFound)
	return s, nil
}

// register adds the operations of all resources.
func (s *Server) register(opts Options) {
	runs := newRegistry(microseconds)
	opts.Apps.WatchSleep(sleepRuns{runs})
	s.access = newAccess(opts, runs)
	stores := &storeHandler{opts.Apps}
	// An import skips tools. Therefore, an import accepts a source file even if its engine is
	// missing.
	extensions := union(engine.Extensions(opts.Engines), app.Extensions())
	(&runHandler{access: s.access, runs: runs, logger: opts.Logger, heartbeat: opts.Heartbeat}).register(s)
	addApprovals(s)
	addAgents(s)
	addSessions(s)
	addWorkflows(s)
	addSleep(s)
	s.files = newFileHandler(opts)
	s.files.register(s)
	addPrompts(s)
	stores.register(s)
	addRecords(s)
	addFacts(s)
	addBlocks(s)
	addRecall(s)
	addCollections(s)
	s.files.registerImport(s)
	addLedger(s)
	(&userHandler{access: s.access, logger: opts.Logger}).register(s)
	(&transferHandler{stores: stores, extensions: extensions}).register(s)
	(&backupHandler{copy: opts.Backup, logger: opts.Logger}).register(s)
	(&usageHandler{opts.Apps}).register(s)
}

func describe(version string, format huma.Format) huma.Config {
	config := huma.DefaultConfig("toolrun", version)
	config.Info.Description = "Run small tools that store data. Each call runs in a fresh sandbox, as one transaction."
	config.Info.License = &huma.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"}
	config.Servers = []*huma.Server{{URL: "/"}}
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "/openapi", "", ""
	config.CreateHooks = nil                                                  // these hooks would add a link to a schema to every response
	config.Formats = map[string]huma.Format{jsonType: format, "json": format} // "json" is the key for media types that end in +json
	config.RejectUnknownQueryParameters = true
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", Description: "An API key, or a token (JWT) of the platform's issuer"},
		"key":    {Type: "apiKey", In: "header", Name: "X-API-Key", Description: "An API key"},
	}
	config.Security = []map[string][]string{{"bearer": {}}, {"key": {}}}
	config.Tags = []*huma.Tag{
		{Name: "runs", Description: "Run tools and code"}, {Name: "agents", Description: "Talk to agents, and apply their rules"}, {Name: "sessions", Description: "Start, change and end sessions"},
		{Name: "files", Description: "Files of a session"}, {Name: "prompts", Description: "Render prompts"}, {Name: "memory", Description: "Blocks of users"},
		{Name: "stores", Description: "Declarations of memory stores"}, {Name: "records", Description: "Stored records, for operators"}, {Name: "facts", Description: "Stored facts, for operators"},
		{Name: "collections", Description: "Entries of collections"},
		{Name: "sleep", Description: "Sleep-time memory, which updates blocks after a conversation has settled"},
		{Name: "ledger", Description: "Audit log of reads and writes"}, {Name: "service", Description: "The service itself"},
	}
	return config
}

// ServeHTTP serves a request.
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
			s.logger.Error("the handler of a request panicked", "panic", p, "stack", string(debug.Stack()))
		}
		panic(http.ErrAbortHandler) // the response is lost, and it may already have begun
	}()
	if p := r.URL.EscapedPath(); p != path.Clean(p) { // the mux would redirect such a path
		WriteProblem(w, errNoPath)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Access returns the Access of the API, for the handlers of other protocols.
func (s *Server) Access() *Access { return s.access }

// Handle adds a handler of another protocol. The handler must check credentials itself.
func (s *Server) Handle(pattern string, h http.Handler) { s.mux.Handle(pattern, h) }

// Pattern returns the pattern of the route that serves a request. The pattern contains no ids and
// is used in metrics.
func (s *Server) Pattern(r *http.Request) string {
	_, pattern := s.mux.Handler(r)
	return pattern
}

// Routes returns all operations of the API.
func (s *Server) Routes() []Route { return s.routes }

// OpenAPI returns the OpenAPI 3.1 document of the API as JSON.
func (s *Server) OpenAPI() ([]byte, error) { return json.MarshalIndent(s.api.OpenAPI(), "", "  ") }

// notFound serves requests that match no operation.
func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	if allowed := s.allowedMethods(r); len(allowed) > 0 {
		p := problemOfFault(abi.Faultf(abi.InvalidArgument, "the path does not support the method %s", truncatedName(r.Method)).
			WithHint("use %s", strings.Join(allowed, " or ")), http.StatusMethodNotAllowed)
		p.header = http.Header{"Allow": {strings.Join(allowed, ", ")}}
		WriteProblem(w, p)
		return
	}
	WriteProblem(w, errNoPath)
}

var errNoPath = abi.Faultf(abi.NotFound, "no resource exists at this path").
	WithHint("see the paths of the API at /docs")

// allowedMethods returns the methods that the path of a request supports.
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

// acceptPlainPatches makes the API also accept merge patches with the media type application/json,
// because many clients send this media type.
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

// nameLanguages restricts the language of code to the languages of the engines.
func nameLanguages(api huma.API, languages []engine.Language) {
	language := api.OpenAPI().Components.Schemas.Map()["CodeRequest"].Properties["language"]
	for _, l := range languages {
		language.Enum = append(language.Enum, l.Name)
	}
	language.PrecomputeMessages()
}

// allowNoError marks two members as nullable in the OpenAPI document. The error of a turn is null
// if the turn succeeded. The prompt of a preview is null if the turn would not send a request to a
// model. The tag nullable does not support members that are objects.
func allowNoError(api huma.API) {
	for name, members := range map[string][]string{"Turn": {"error"}, "Evaluation": {"error"}, "Preview": {"error", "prompt"}} {
		properties := api.OpenAPI().Components.Schemas.Map()[name].Properties
		for _, member := range members {
			properties[member] = &huma.Schema{AnyOf: []*huma.Schema{properties[member], {Type: "null"}}}
			properties[member].PrecomputeMessages()
		}
	}
}

// writeJSON writes a value as JSON. writeJSON ignores errors, because the client may have
// disconnected.
func writeJSON(w io.Writer, v any) { _ = json.NewEncoder(w).Encode(v) }

func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

// appInput is implemented by inputs that embed apitypes.Target.
type appInput interface{ AppID() string }

// add registers an operation that concerns one app. The operation requires the given permission.
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

// addPlain registers an operation that does not concern one app. The operation requires the given
// permission.
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

// The variables below list the error statuses in the OpenAPI document: for all operations, for
// operations with a body, and for operations that write.
var (
	commonErrors = []int{400, 401, 403, 404, 410, 422, 429, 500, 503, 504}
	bodyErrors   = []int{408, 413, 415}
	writeErrors  = []int{409, 507}
)

// loggedProblem returns the problem for an error. loggedProblem logs internal errors, because
// clients must not see their details.
func loggedProblem(logger *slog.Logger, err error) *problem {
	p := problemOf(err)
	if p.Status == http.StatusInternalServerError {
		logger.Error("a request failed", "error", err)
	}
	return p
}
