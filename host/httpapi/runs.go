package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/access"
	"github.com/toolrun/toolrun/host/httpapi/wire"
	"github.com/toolrun/toolrun/host/memory"
)

// A run's body holds an input and a context of 1 MiB each, and code.
const maxRunBytes = 4 << 20

type runInput struct {
	wire.Target
	wire.RunHeaders
	Body wire.RunRequest
}

type sessionRunInput struct {
	wire.Target
	wire.RunHeaders
	wire.SessionPath
	Body wire.RunRequest
}

type codeInput struct {
	wire.Target
	wire.RunHeaders
	Body wire.CodeRequest
}

type resultOutput struct{ Body abi.Result }

func (s *Server) addRuns() {
	op := huma.Operation{
		OperationID: "run-tool", Method: http.MethodPost, Path: "/runs", Tags: []string{"runs"}, MaxBodyBytes: maxRunBytes,
		Summary: "Run a tool",
		Description: "Runs a tool once, in a fresh sandbox. The answer is the Result, also where the tool failed: see `ok` and `error`. " +
			"What kept it from running at all is a problem. The run is cancelled, and stores nothing, when the client hangs up.",
	}
	add(s, access.Run, op, func(ctx context.Context, c *call, in *runInput) (*resultOutput, error) {
		return c.run(ctx, in.Body.Tool, in.Body.RunFields, in.Key, nil, nil)
	})
	within := op
	within.OperationID, within.Path, within.Summary = "run-tool-in-session", "/sessions/{session_id}/runs", "Run a tool in a session"
	add(s, access.Run, within, func(ctx context.Context, c *call, in *sessionRunInput) (*resultOutput, error) {
		run, err := in.run()
		if err != nil {
			return nil, err
		}
		return c.run(ctx, run.Body.Tool, run.Body.RunFields, in.Key, nil, nil)
	})
	code := op
	code.OperationID, code.Path, code.Summary = "run-code", "/runs/code", "Run code that no app declares"
	code.Description = "For workflow engines, which keep the code of their function nodes. " + op.Description
	add(s, access.Code, code, func(ctx context.Context, c *call, in *codeInput) (*resultOutput, error) {
		grants, err := grantsOf(in.Body.Grants)
		if err != nil {
			return nil, err
		}
		source := &host.Code{Language: in.Body.Language, Text: in.Body.Code, Grants: grants}
		name := in.Body.Name
		if name == "" {
			name = "code"
		}
		return c.run(ctx, name, in.Body.RunFields, in.Key, source, nil)
	})
	s.addStreams(op)
	tools := huma.Operation{OperationID: "list-tools", Method: http.MethodGet, Path: "/tools", Tags: []string{"runs"}, Summary: "List the tools"}
	add(s, access.Run, tools, listTools)
}

// run is the run in the session of the path, which the body may name too.
func (in *sessionRunInput) run() (*runInput, error) {
	if in.Body.Session != "" && in.Body.Session != in.Session {
		return nil, abi.Faultf(abi.InvalidArgument, "session_id is another session than that of the path").WithHint("leave session_id out of the body")
	}
	in.Body.Session = in.Session
	return &runInput{in.Target, in.RunHeaders, in.Body}, nil
}

// run runs a tool, or code, and answers with the Result where there is one to answer with.
func (c *call) run(ctx context.Context, tool string, f wire.RunFields, key string, code *host.Code, onLog func(int, abi.LogLine)) (*resultOutput, error) {
	inv, err := c.invocation(ctx, tool, f)
	if err != nil {
		return nil, err
	}
	inv.Key, inv.Code, inv.OnLog = key, code, onLog
	if inv.Dry && !c.principal.Allows(access.Records) {
		return nil, abi.Faultf(abi.AccessDenied, "a dry run tells what is stored, which takes the right %q", access.Records)
	}
	result, err := c.host.Run(ctx, inv)
	if err == nil {
		return &resultOutput{*result}, nil
	}
	if f := abi.FaultOf(err); result.Attempts > 0 && f.Code != abi.Unavailable && f.Code != abi.Internal {
		return &resultOutput{*result}, nil
	}
	p := *problemOf(err)
	p.RunID = result.RunID
	return nil, &p
}

func (c *call) invocation(ctx context.Context, tool string, f wire.RunFields) (inv host.Invocation, err error) {
	inv = host.Invocation{
		Tool: tool, Input: f.Input, Context: f.Context, Metadata: f.Metadata, SessionReference: f.SessionReference,
		UserReference: f.UserReference, Env: f.Env, Timeout: time.Duration(f.TimeoutMS) * time.Millisecond, Dry: f.Dry,
	}
	if err := plainText(f.Metadata, f.SessionReference, f.UserReference); err != nil {
		return inv, err
	}
	if err := c.mayGive(f); err != nil {
		return inv, err
	}
	if inv.Caller, err = c.caller(ctx, f.User, f.Session); err != nil || f.Message == nil {
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
func withMessage(given, message json.RawMessage) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if len(given) > 0 && string(given) != "null" {
		if err := json.Unmarshal(given, &members); err != nil {
			return nil, abi.Faultf(abi.InputInvalid, "the context must be a JSON object")
		}
	}
	members["message"] = message
	return json.Marshal(members)
}

// grantsOf reads grants as an app file has them.
func grantsOf(given map[string]string) ([]memory.Grant, error) {
	grants := []memory.Grant{}
	for store, text := range given {
		verbs, err := memory.ParseVerbs(text)
		if err != nil {
			return nil, abi.Faultf(abi.InvalidArgument, "the grant of the store %q: %v", store, err).WithHint("write read, write, delete or readwrite")
		}
		grants = append(grants, memory.Grant{Store: store, Verbs: verbs})
	}
	// The order is nobody's, and the same grants are to be the same code.
	return sorted(grants, func(g memory.Grant) string { return g.Store }), nil
}

type listOutput[T any] struct{ Body wire.List[T] }

func listTools(_ context.Context, c *call, _ *wire.Target) (*listOutput[wire.Tool], error) {
	list := []wire.Tool{}
	for _, t := range c.host.App().Tools {
		tool := wire.Tool{Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema}
		if len(t.Broken) > 0 {
			tool.Broken = "it is declared with mistakes"
			if c.principal.Allows(access.Stores) && c.principal.Role == access.Operator {
				tool.Broken = strings.TrimSpace(t.Broken.Error())
			}
		}
		list = append(list, tool)
	}
	return &listOutput[wire.Tool]{wire.List[wire.Tool]{Items: list}}, nil
}
