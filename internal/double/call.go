package double

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
)

type callRequest struct {
	envelope
	// Op is the operation, and Args are the arguments, in the form in which tool code passes them.
	Op   string            `json:"op"`
	Args []json.RawMessage `json:"args"`
	// Run is the id of the run that contains the call. By default, the call is a separate run,
	// which the other fields describe.
	Run      string          `json:"run"`
	User     string          `json:"user"`
	Session  string          `json:"session"`
	Agent    string          `json:"agent"`
	Workflow string          `json:"workflow"`
	Tool     string          `json:"tool"`
	Metadata json.RawMessage `json:"metadata"`
	// If Operator is true, the call is made on behalf of the app's operator. Such a call is outside
	// of any run, and grants do not apply to it.
	Operator bool `json:"operator"`
}

// called is the result of a call. Effects is not set for a call within an open run.
type called struct {
	Reply   json.RawMessage `json:"reply"`
	Effects any             `json:"effects,omitempty"`
}

// call performs a memory operation.
func (i *instance) call(ctx context.Context, r callRequest) (any, error) {
	call := abi.Call{Op: r.Op, Args: r.Args}
	switch {
	case r.Operator && (r.Run != "" || r.Tool != ""):
		return nil, abi.Faultf(abi.InvalidArgument, "a call with \"operator\" must not contain \"run\" or \"tool\"")
	case r.Operator:
		return i.operate(ctx, host.Caller{User: r.User, Session: r.Session, Agent: r.Agent, Workflow: r.Workflow}, call)
	case r.Run != "" && (r.User != "" || r.Session != "" || r.Agent != "" || r.Workflow != "" || r.Tool != "" || len(r.Metadata) > 0):
		return nil, abi.Faultf(abi.InvalidArgument, "a call with \"run\" must not contain \"user\", \"session\", \"agent\", \"workflow\", \"tool\" or \"metadata\"").
			WithHint("set these members in the request \"begin\"")
	case r.Run != "":
		begun := i.runs[r.Run]
		if begun == nil {
			return nil, noRun(r.Run)
		}
		reply, err := i.callIn(begun, call)
		if err != nil {
			return nil, err
		}
		return called{Reply: reply}, nil
	}
	tool, err := i.toolNamed(r.Tool)
	if err != nil {
		return nil, err
	}
	return i.callAlone(ctx, beginRequest{User: r.User, Session: r.Session, Agent: r.Agent, Workflow: r.Workflow, Tool: calling(tool), Metadata: r.Metadata}, call)
}

func (i *instance) operate(ctx context.Context, caller host.Caller, call abi.Call) (any, error) {
	o, err := i.open(ctx)
	if err != nil {
		return nil, err
	}
	reply, effects, err := o.host.Stores().Do(ctx, caller, memory.Operator(), call)
	if err != nil {
		return nil, err
	}
	return called{reply, effects}, nil
}

// callIn performs a call within an open run.
func (i *instance) callIn(r *run, call abi.Call) (json.RawMessage, error) {
	if f := i.refusal(r, call); f != nil {
		return nil, f
	}
	select {
	case r.commands <- command{call: &call}:
	case <-r.ended:
		return nil, r.end.err
	}
	select {
	case o := <-r.replies:
		if o.fault != nil {
			return nil, o.fault
		}
		return o.reply, nil
	case <-r.ended: // tool code cannot catch the fault that has ended the run
		return nil, r.end.err
	}
}

// refusal returns the fault that a request has set for calls to a store, or nil if no fault is set.
func (i *instance) refusal(r *run, call abi.Call) *abi.Fault {
	var store string
	if json.Unmarshal(call.Arg(0), &store) != nil || i.refusals[store] == nil {
		return nil
	}
	f := *i.refusals[store]
	f.Op, f.Store = call.Op, store
	f.ID = "-" + strconv.Itoa(len(r.injected)+1) // negative, because the IDs of the host are positive
	kept := f
	kept.ID = ""
	r.injected[f.ID] = &kept
	return &f
}

// callAlone performs a call that is a separate run.
func (i *instance) callAlone(ctx context.Context, b beginRequest, call abi.Call) (any, error) {
	r, _, err := i.start(ctx, b)
	if err != nil {
		return nil, err
	}
	reply, err := i.callIn(r, call)
	c := command{output: engine.Output{Output: json.RawMessage("null")}}
	if err != nil {
		c = command{fault: abi.FaultOf(err)}
	}
	if end := r.finish(c); end.err != nil {
		return nil, end.err
	}
	return called{reply, r.end.effects}, nil
}
