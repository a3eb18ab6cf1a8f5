// Command probe is a plug-in that tests the Go binding and a host. The command executes the steps
// of its input and returns their results.
//
//	{"steps": [{"call": "get_content", "store": "prefs", "projection": {"a": 1}}, {"log": "info", "text": "read"}]}
package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	toolrun "github.com/toolrun/toolrun/abi/guest/go"
)

// step is an action of the probe. The first field that is set determines the action.
type step struct {
	Call       string          `json:"call"` // performs an operation on Store; missing keys are absent arguments
	Store      string          `json:"store"`
	Projection json.RawMessage `json:"projection"`
	Value      json.RawMessage `json:"value"`
	Options    json.RawMessage `json:"options"`

	Log  string `json:"log"` // logs Text at this level
	Text string `json:"text"`

	Print   string                     `json:"print"`   // writes to standard output
	Context map[string]json.RawMessage `json:"context"` // sets each key
	Fail    *string                    `json:"fail"`    // fails the run with this message
	Pass    bool                       `json:"pass"`    // fails the run with the last fault
}

// reply is the result of a call: a reply or a fault.
type reply struct {
	Reply json.RawMessage `json:"reply,omitempty"`
	Fault *fault          `json:"fault,omitempty"`
}

// fault contains a fault of the host without position and ID, because these differ between
// plug-ins.
type fault struct {
	Code       abi.Code        `json:"code"`
	Message    string          `json:"message"`
	Op         string          `json:"op,omitempty"`
	Store      string          `json:"store,omitempty"`
	Violations []abi.Violation `json:"violations,omitempty"`
	Hint       string          `json:"hint,omitempty"`
}

type output struct {
	Replies []reply         `json:"replies"`
	Input   json.RawMessage `json:"input"`
	Context json.RawMessage `json:"context"`
}

func init() { toolrun.Handle(probe) }

func main() {}

func probe(input json.RawMessage) (output, error) {
	runContext, err := toolrun.GetContext()
	out := output{Replies: []reply{}, Input: input, Context: runContext.Raw}
	if err != nil {
		return out, err
	}
	var script struct {
		Steps []step `json:"steps"`
	}
	if err := json.Unmarshal(input, &script); err != nil {
		return out, err
	}
	var last error
	for _, s := range script.Steps {
		switch {
		case s.Call != "":
			text, err := s.call()
			out.Replies = append(out.Replies, reply{Reply: text, Fault: faultOf(err)})
			if err != nil {
				last = err
			}
		case s.Pass:
			return out, last
		default:
			if err := s.perform(); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// call performs an operation. call passes only the arguments that the operation has.
func (s step) call() (json.RawMessage, error) {
	switch s.Call {
	case abi.GetContent:
		return toolrun.Call(s.Call, s.Store, argument(s.Projection), argument(s.Options))
	case abi.SetContent, abi.Remember, abi.Recall:
		return toolrun.Call(s.Call, s.Store, argument(s.Value), argument(s.Options))
	}
	return toolrun.Call(s.Call, s.Store, argument(s.Options))
}

// argument returns nil for an absent argument. If a nil RawMessage were stored in the interface
// value, it would be encoded as null.
func argument(text json.RawMessage) any {
	if text == nil {
		return nil
	}
	return text
}

// perform executes a step that is not a call.
func (s step) perform() error {
	switch {
	case s.Log != "":
		return s.log()
	case s.Print != "":
		fmt.Println(s.Print)
	case s.Context != nil:
		for key, value := range s.Context {
			if err := toolrun.SetContext(key, value); err != nil {
				return err
			}
		}
	case s.Fail != nil:
		return errors.New(*s.Fail)
	default:
		return errors.New("unknown step")
	}
	return nil
}

func (s step) log() error {
	levels := map[string]func(string, ...any){
		"debug": toolrun.Debugf, "info": toolrun.Infof, "warn": toolrun.Warnf, "error": toolrun.Errorf,
	}
	logf := levels[s.Log]
	if logf == nil {
		return fmt.Errorf("unknown log level %q", s.Log)
	}
	logf("%s", s.Text)
	return nil
}

func faultOf(err error) *fault {
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		return &fault{Code: f.Code, Message: f.Message, Op: f.Op, Store: f.Store, Violations: f.Violations, Hint: f.Hint}
	}
	return nil
}
