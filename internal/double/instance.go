package double

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// instance is one memory: an app, its records and a clock.
type instance struct {
	declared *declaration
	limits   memory.Limits
	gate     *admission.Gate
	log      *slog.Logger

	tools    []app.Tool // the tools of the app and of requests
	backend  storage.Backend
	clock    *clock
	random   *random
	refusals map[string]*abi.Fault // by store

	current *opened // nil until first use
	runs    map[string]*run
	begun   int // the number of runs so far
}

// opened is a host with the tools that were declared when the host was opened. The host is closed
// when it is no longer current and its last run has ended.
type opened struct {
	host    *host.Host
	runs    int
	retired bool
}

// limits are the quotas of the app. If a quota is 0, the default of the host applies.
type limits struct {
	RecordBytes int   `json:"record_bytes"`
	Depth       int   `json:"depth"`
	Keys        int   `json:"keys"`
	Values      int   `json:"values"`
	AppBytes    int64 `json:"app_bytes"`
	AppRecords  int64 `json:"app_records"`
	UserBytes   int64 `json:"user_bytes"`
	UserRecords int64 `json:"user_records"`
}

func (s *server) newInstance(d *declaration, l limits) *instance {
	i := &instance{
		declared: d, gate: s.gate, log: s.cfg.Logger, tools: slices.Clone(d.app.Tools), backend: mem.New(),
		clock: &clock{base: s.cfg.Now}, random: &random{}, refusals: map[string]*abi.Fault{}, runs: map[string]*run{},
		limits: memory.Limits{
			RecordBytes: l.RecordBytes, Depth: l.Depth, Keys: l.Keys, Values: l.Values, AppBytes: l.AppBytes,
			AppRecords: l.AppRecords, UserBytes: l.UserBytes, UserRecords: l.UserRecords,
		},
	}
	return i
}

type openRequest struct {
	envelope
	// App is an app file as JSON. File is the path of an app file. If App and File are both empty,
	// the app has no stores.
	App    json.RawMessage `json:"app"`
	File   string          `json:"file"`
	Limits limits          `json:"limits"`
}

// openedReply describes an opened memory.
type openedReply struct {
	App    string   `json:"app"`
	Stores []string `json:"stores"`
	Tools  []string `json:"tools"`
	// Operations are the memory operations. A client generates its functions from the memory
	// operations.
	Operations abi.Table `json:"operations"`
}

// open opens a memory under a name. If a memory with that name exists, open replaces it.
func (s *server) open(ctx context.Context, head envelope, r openRequest) (any, error) {
	if s.instances[head.Memory] == nil && len(s.instances) >= maxInstances {
		return nil, abi.Faultf(abi.QuotaExceeded, "the limit of %d open memories is reached", maxInstances).WithHint(`close a memory with {"do":"close"}`)
	}
	d, err := s.declare(r)
	if err != nil {
		return nil, err
	}
	i := s.newInstance(d, r.Limits)
	o, err := i.open(ctx)
	if err != nil {
		i.close()
		return nil, abi.Faultf(abi.InvalidArgument, "%v", err)
	}
	if before := s.instances[head.Memory]; before != nil {
		before.close()
	}
	s.instances[head.Memory] = i
	result := openedReply{App: d.app.ID, Stores: []string{}, Tools: []string{}, Operations: slices.Concat(o.host.Memory().Operations(), abi.Models())}
	for _, st := range d.app.Stores {
		result.Stores = append(result.Stores, st.Name)
	}
	for _, t := range d.app.Tools {
		result.Tools = append(result.Tools, t.Name)
	}
	return result, nil
}

func (s *server) declare(r openRequest) (*declaration, error) {
	switch {
	case r.File != "" && len(r.App) > 0:
		return nil, abi.Faultf(abi.InvalidArgument, "the request contains both \"file\" and \"app\"").WithHint(`omit "file" or "app"`)
	case r.File != "":
		return s.declarationOf(r.File)
	case len(r.App) > 0:
		return importApp(r.App)
	}
	return importApp(json.RawMessage(`{"app":"test"}`))
}

type plainRequest struct{ envelope }

// closeOne closes a memory.
func (s *server) closeOne(_ context.Context, head envelope, _ plainRequest) (any, error) {
	if i := s.instances[head.Memory]; i != nil {
		i.close()
		delete(s.instances, head.Memory)
	}
	return nil, nil
}

// forever is the time limit of a run, because its client may be in a debugger.
const forever = 1000 * time.Hour

// open returns the host with the tools that are currently declared.
func (i *instance) open(ctx context.Context) (*opened, error) {
	if i.current != nil {
		return i.current, nil
	}
	tools := slices.Clone(i.tools)
	if !slices.ContainsFunc(tools, func(t app.Tool) bool { return t.Name == everything }) {
		t, err := toolFrom(i.declared.app, everything, manifestOf(i.declared.app))
		if err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	h, err := host.Open(ctx, host.Options{
		App: runnable(i.declared.app, tools), Backend: i.backend, Engines: []engine.Engine{client{}}, Gate: i.gate,
		Limits: host.Limits{Timeout: forever, MaxTimeout: forever}, Memory: i.limits,
		SweepEvery: -1, Now: i.clock.now, Rand: i.random, Logger: i.log,
	})
	if err != nil {
		return nil, err
	}
	i.current = &opened{host: h}
	return i.current, nil
}

// retire causes the next run to open a new host with the tools that are declared at that time.
func (i *instance) retire() {
	o := i.current
	i.current = nil
	if o != nil {
		o.retired = true
		o.closeUnused()
	}
}

// closeUnused closes a host that is no longer needed.
func (o *opened) closeUnused() {
	if o.retired && o.runs == 0 {
		_ = o.host.Close() // the host has no resources besides memory
	}
}

// reset removes all records, sessions and faults of "refuse" requests. Open runs store nothing.
func (i *instance) reset(_ context.Context, _ plainRequest) (any, error) {
	i.drop()
	i.backend = mem.New()
	i.refusals = map[string]*abi.Fault{}
	return nil, nil
}

// drop rolls back the open runs and closes the host and the backend of the instance.
func (i *instance) drop() {
	for id, r := range i.runs {
		delete(i.runs, id)
		r.finish(command{fault: rolledBack()})
	}
	i.retire()
	_ = i.backend.Close()
}

func (i *instance) close() {
	i.drop()
	i.declared.release()
}

type sessionRequest struct {
	envelope
	User    string `json:"user"`
	Session string `json:"session"`
	// Metadata is a merge patch for the session's metadata.
	Metadata         json.RawMessage `json:"metadata"`
	SessionReference string          `json:"session_reference"`
	UserReference    string          `json:"user_reference"`
}

// session starts or updates a session.
func (i *instance) session(ctx context.Context, r sessionRequest) (any, error) {
	o, err := i.open(ctx)
	if err != nil {
		return nil, err
	}
	return o.host.Sessions().Start(ctx, host.Caller{User: r.User, Session: r.Session},
		session.Start{Reference: r.SessionReference, UserReference: r.UserReference, Metadata: r.Metadata})
}

type endSessionRequest struct {
	envelope
	Session string `json:"session"`
}

// endSession ends a session.
func (i *instance) endSession(ctx context.Context, r endSessionRequest) (any, error) {
	o, err := i.open(ctx)
	if err != nil {
		return nil, err
	}
	return o.host.Sessions().End(ctx, host.Caller{Session: r.Session})
}

type endWorkflowRequest struct {
	envelope
	Workflow string `json:"workflow"`
}

// endWorkflow ends a workflow.
func (i *instance) endWorkflow(ctx context.Context, r endWorkflowRequest) (any, error) {
	o, err := i.open(ctx)
	if err != nil {
		return nil, err
	}
	return o.host.Workflows().End(ctx, host.Caller{Workflow: r.Workflow})
}

type refuseRequest struct {
	envelope
	Store string `json:"store"`
	// Error is the fault for every call to the store. The value null removes the fault.
	Error *abi.Fault `json:"error"`
}

// refuse sets the fault for calls from tools to a store.
func (i *instance) refuse(_ context.Context, r refuseRequest) (any, error) {
	if r.Error == nil {
		delete(i.refusals, r.Store)
		return nil, nil
	}
	var known []string
	for _, code := range abi.Codes() {
		known = append(known, string(code))
	}
	if !slices.Contains(known, string(r.Error.Code)) {
		return nil, abi.Faultf(abi.InvalidArgument, "unknown error code %q", shortened(string(r.Error.Code))).
			WithHint("use one of: %s", strings.Join(known, ", "))
	}
	f := *r.Error
	i.refusals[r.Store] = &f
	return nil, nil
}
