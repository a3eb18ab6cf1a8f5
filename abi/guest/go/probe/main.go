// Command probe is the plug-in that tests the Go binding, and with it a host: it does what its input tells it to,
// and answers what came of it.
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

// step is one thing to do: the first of its keys that is there says which.
type step struct {
	Call       string          `json:"call"` // an operation on Store; what is missing of the rest is absent
	Store      string          `json:"store"`
	Projection json.RawMessage `json:"projection"`
	Value      json.RawMessage `json:"value"`
	Options    json.RawMessage `json:"options"`

	Log  string `json:"log"` // logs Text at this level
	Text string `json:"text"`

	Print   string                     `json:"print"`   // goes to standard output
	Context map[string]json.RawMessage `json:"context"` // sets each key
	Fail    *string                    `json:"fail"`    // fails the run with this message
	Pass    bool                       `json:"pass"`    // fails the run with the last fault
}

// reply is what came of a call: one of the two.
type reply struct {
	Reply json.RawMessage `json:"reply,omitempty"`
	Fault *fault          `json:"fault,omitempty"`
}

// fault is what is told of a fault: all but where it was and its id, which differ between plug-ins.
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
	given, err := toolrun.GetContext()
	out := output{Replies: []reply{}, Input: input, Context: given.Raw}
	if err != nil {
		return out, err
	}
	var todo struct {
		Steps []step `json:"steps"`
	}
	if err := json.Unmarshal(input, &todo); err != nil {
		return out, err
	}
	var last error
	for _, s := range todo.Steps {
		switch {
		case s.Call != "":
			text, err := s.call()
			out.Replies = append(out.Replies, reply{Reply: text, Fault: told(err)})
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

// call performs an operation; what does not belong to it is not passed.
func (s step) call() (json.RawMessage, error) {
	switch s.Call {
	case abi.GetContent:
		return toolrun.Call(s.Call, s.Store, given(s.Projection), given(s.Options))
	case abi.SetContent:
		return toolrun.Call(s.Call, s.Store, given(s.Value), given(s.Options))
	}
	return toolrun.Call(s.Call, s.Store, given(s.Options))
}

// given is nil for what is not in a step.
func given(text json.RawMessage) any {
	if text == nil {
		return nil
	}
	return text
}

// perform does a step that is no call.
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
		return errors.New("the step says nothing that the probe knows")
	}
	return nil
}

func (s step) log() error {
	levels := map[string]func(string, ...any){
		"debug": toolrun.Debugf, "info": toolrun.Infof, "warn": toolrun.Warnf, "error": toolrun.Errorf,
	}
	logf := levels[s.Log]
	if logf == nil {
		return fmt.Errorf("there is no level %q", s.Log)
	}
	logf("%s", s.Text)
	return nil
}

func told(err error) *fault {
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		return &fault{Code: f.Code, Message: f.Message, Op: f.Op, Store: f.Store, Violations: f.Violations, Hint: f.Hint}
	}
	return nil
}
