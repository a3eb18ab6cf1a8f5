package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// maxRunBytes is the maximum size of a run request. maxRunBytes allows 1 MiB each for the input and
// the context, plus the code.
const maxRunBytes = 4 << 20

type runInput struct {
	apitypes.Target
	apitypes.RunHeaders
	Body apitypes.RunRequest
}

type sessionRunInput struct {
	apitypes.Target
	apitypes.RunHeaders
	apitypes.SessionPath
	Body apitypes.RunRequest
}

type codeInput struct {
	apitypes.Target
	apitypes.RunHeaders
	Body apitypes.CodeRequest
}

type runByIDInput struct {
	apitypes.Target
	apitypes.RunPath
}

type resultOutput struct {
	RunID string `header:"Run-Id" doc:"Id of the run. If an idempotency key repeats a response, the id is the id of the first run"`
	Body  report.Result
}

type runOutput struct{ Body apitypes.Run }

// job is a run that a request starts.
type job struct {
	tool   string
	fields apitypes.RunFields
	key    string
	code   *host.AdHocTool // nil for a declared tool
	onLog  func(attempt int, line abi.LogLine)
	// onID receives the id of the run before any other event is sent.
	onID func(id string)
}

// runHandler serves requests for runs and tools.
type runHandler struct {
	access    *Access
	runs      *registry
	logger    *slog.Logger
	heartbeat time.Duration
}

func (h *runHandler) register(s *Server) {
	op := huma.Operation{
		OperationID: "run-tool", Method: http.MethodPost, Path: "/runs", Tags: []string{"runs"}, MaxBodyBytes: maxRunBytes,
		Summary: "Run a tool",
		Description: "Runs a tool once, in a fresh sandbox. The response is the Result, even if the tool failed or the run is paused: see `status`, `error` and `approval`. " +
			"If the tool could not run at all, the response is a problem. If the client disconnects, the run is canceled and stores nothing.",
	}
	add(s, auth.Run, op, answerJob((*runInput).job))
	within := op
	within.OperationID, within.Path, within.Summary = "run-tool-in-session", "/sessions/{session_id}/runs", "Run a tool in a session"
	add(s, auth.Run, within, answerJob((*sessionRunInput).job))
	code := op
	code.OperationID, code.Path, code.Summary = "run-code", "/runs/code", "Run code that no app declares"
	code.Description = "This operation is for workflow engines that store the code of their function nodes. " + op.Description
	add(s, auth.Code, code, answerJob((*codeInput).job))
	h.addStreams(s, op)
	h.addByID(s)
	tools := huma.Operation{OperationID: "list-tools", Method: http.MethodGet, Path: "/tools", Tags: []string{"runs"}, Summary: "List the tools"}
	add(s, auth.Run, tools, listTools)
}

// answerJob returns a handler that executes the job of a request and responds with the Result.
func answerJob[I any](jobOf func(*I) (job, error)) func(context.Context, *call, *I) (*resultOutput, error) {
	return func(ctx context.Context, c *call, in *I) (*resultOutput, error) {
		j, err := jobOf(in)
		if err != nil {
			return nil, err
		}
		return c.run(ctx, j)
	}
}

func (h *runHandler) addByID(s *Server) {
	tags := []string{"runs"}
	add(s, auth.Run, huma.Operation{
		OperationID: "get-run", Method: http.MethodGet, Path: "/runs/{run_id}", Tags: tags, Summary: "Describe a run",
		Description: "Returns the status and, at the end, the Result. Only the credentials that started a run (for keys: keys of the tenant with the " +
			"same name and role) and operators can find it, until 10 minutes after its end. If there are too many runs, those that ended first are removed. " +
			"Only operators can find runs of sleep-time memory.",
	}, func(_ context.Context, c *call, in *runByIDInput) (*runOutput, error) {
		found, err := h.runs.find(c.principal, c.app, in.Run)
		return &runOutput{found}, err
	})
	add(s, auth.Run, huma.Operation{
		OperationID: "cancel-run", Method: http.MethodPost, Path: "/runs/{run_id}/cancel", Tags: tags, Summary: "Cancel a run",
		Description: "The run ends soon with the code `cancelled` and stores nothing, unless it is already committing. Canceling a run that has ended has no effect. " +
			"A run of sleep-time memory cannot be canceled.",
	}, func(_ context.Context, c *call, in *runByIDInput) (*runOutput, error) {
		if err := h.runs.stop(c.principal, c.app, in.Run); err != nil {
			return nil, err
		}
		found, err := h.runs.find(c.principal, c.app, in.Run)
		return &runOutput{found}, err
	})
}

func (in *runInput) job() (job, error) {
	return job{tool: in.Body.Tool, fields: in.Body.RunFields, key: in.Key}, nil
}

// job returns a job for the session in the path of the request. If the body of the request also
// contains a session, it must be the session in the path.
func (in *sessionRunInput) job() (job, error) {
	if in.Body.Session != "" && in.Body.Session != in.Session {
		return job{}, abi.Faultf(abi.InvalidArgument, "`session_id` differs from the session in the path").WithHint("omit `session_id` from the body")
	}
	in.Body.Session = in.Session
	return job{tool: in.Body.Tool, fields: in.Body.RunFields, key: in.Key}, nil
}

func (in *codeInput) job() (job, error) {
	grants, err := grantsOf(in.Body.Grants)
	if err != nil {
		return job{}, err
	}
	source := &host.AdHocTool{Language: in.Body.Language, Text: in.Body.Code, Grants: grants}
	return job{tool: cmp.Or(in.Body.Name, "code"), fields: in.Body.RunFields, key: in.Key, code: source}, nil
}

// run executes a job, and returns the Result if there is one.
func (c *call) run(ctx context.Context, j job) (*resultOutput, error) {
	inv, err := c.invocation(ctx, j.tool, j.fields)
	if err != nil {
		return nil, err
	}
	inv.Key, inv.Code, inv.OnLog = j.key, j.code, j.onLog
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	id := c.track(&inv, j, cancel)
	result, err := c.host.Run(ctx, inv)
	c.runs.end(*id, result)
	out, failed := resultOf(result, err)
	if f := abi.FaultOf(err); failed != nil && f.Code == abi.Cancelled && context.Cause(ctx) == error(errCancelledByID) {
		p := *problemOfFault(f, http.StatusConflict)
		p.RunID = result.RunID
		return nil, &p
	}
	return out, failed
}

// track adds the run of an invocation to the registry of runs. When the run has begun, track sets
// the returned id.
func (c *call) track(inv *host.Invocation, j job, cancel context.CancelCauseFunc) (id *string) {
	id = new(string)
	begin := func() *trackedRun {
		return &trackedRun{
			Run: apitypes.Run{Tool: inv.Tool, User: inv.Caller.User, Session: inv.Caller.Session, Workflow: inv.Caller.Workflow},
			app: c.app, owner: ownerOf(c.principal), cancel: cancel,
		}
	}
	inv.OnState = func(run string, state host.RunState) {
		c.runs.enter(run, state, begin)
		if *id == "" && j.onID != nil {
			j.onID(run)
		}
		*id = run
	}
	return id
}

func (c *call) invocation(ctx context.Context, tool string, f apitypes.RunFields) (inv host.Invocation, err error) {
	inv = host.Invocation{
		Tool: tool, Input: f.Input, Context: f.Context, Metadata: f.Metadata, SessionReference: f.SessionReference,
		UserReference: f.UserReference, Env: f.Env, Timeout: milliseconds(f.TimeoutMS), Deadline: milliseconds(f.DeadlineMS),
		DryRun: f.DryRun, Live: f.Live, Test: f.Test,
	}
	if inv.Mocks, inv.Recalls, err = c.checkTest(f.DryRun, f.TestFields); err != nil {
		return inv, err
	}
	if err := checkPlainText(f.Metadata, f.SessionReference, f.UserReference); err != nil {
		return inv, err
	}
	if err := c.checkRunFields(f); err != nil {
		return inv, err
	}
	inv.Caller, err = c.callerIn(ctx, f.User, f.Session, f.Workflow)
	if inv.Caller.Agent = f.Agent; err != nil || f.Message == nil {
		return inv, err
	}
	message, err := json.Marshal(*f.Message)
	if err != nil {
		return inv, err
	}
	if inv.Input == nil {
		inv.Input = json.RawMessage(`{"message":` + string(message) + `}`)
	}
	inv.Context, err = withMessage(inv.Context, message)
	return inv, err
}

// withMessage adds the message to a context.
func withMessage(provided, message json.RawMessage) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if len(provided) > 0 && string(provided) != "null" {
		if err := json.Unmarshal(provided, &members); err != nil {
			return nil, abi.Faultf(abi.InputInvalid, "the context must be a JSON object")
		}
	}
	members["message"] = message
	return json.Marshal(members)
}

// grantsOf parses grants that use the syntax of an app file.
func grantsOf(provided map[string]string) ([]declare.Grant, error) {
	grants := []declare.Grant{}
	for store, text := range provided {
		verbs, err := declare.ParseVerbs(text)
		if err != nil {
			return nil, abi.Faultf(abi.InvalidArgument, "the grant of the store %q: %v", store, err).WithHint("use \"read\", \"write\", \"delete\" or \"readwrite\"")
		}
		grants = append(grants, declare.GrantOn(store, verbs...))
	}
	// The grants are sorted, because map order is random and equal grants must result in equal code.
	return sorted(grants, declare.Grant.Name), nil
}

type listOutput[T any] struct{ Body apitypes.List[T] }

func listTools(_ context.Context, c *call, _ *apitypes.Target) (*listOutput[apitypes.Tool], error) {
	list := []apitypes.Tool{}
	for _, t := range c.host.App().Tools {
		tool := apitypes.Tool{Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema}
		if len(t.Broken) > 0 {
			tool.Broken = "the declaration is invalid"
			if c.principal.Allows(auth.Stores) && c.principal.Role == auth.Operator {
				tool.Broken = strings.TrimSpace(t.Broken.Error())
			}
		}
		list = append(list, tool)
	}
	return &listOutput[apitypes.Tool]{apitypes.List[apitypes.Tool]{Items: list}}, nil
}
