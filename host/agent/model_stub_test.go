package agent_test

import (
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/model"
)

// modelFate determines how a model answers a request. The field "code" is the code of a fault, if
// the answer is a fault. Otherwise, the answer is JSON that is not an object if "broken" is true,
// or else an object that depends on the seed.
type modelFate struct {
	code   abi.Code
	broken bool
	seed   uint64
}

// stubValues are the values that the stub model finds. For most fields, the stub model finds no
// value.
var stubValues = []any{nil, nil, nil, "a", "5", " 12 ", "", "x y", 7.0, true, []any{"a", 1.0}, 0.0}

// fields returns the values that the model finds for the fields of GATHER.
func (f modelFate) fields(names []string) map[string]any {
	values := map[string]any{}
	for i, name := range names {
		values[name] = stubValues[f.seed>>(8*i)%uint64(len(stubValues))]
	}
	if f.broken {
		return nil
	}
	return values
}

// intent returns the intent that the model chooses, or "".
func (f modelFate) intent(phrases []string) string {
	if i := f.seed % uint64(len(phrases)+1); i > 0 && !f.broken {
		return phrases[i-1]
	}
	return ""
}

// answer answers a request that the package agent sends.
func (f modelFate) answer(request model.ChatRequest) (model.ChatAnswer, error) {
	if f.code != "" {
		return model.ChatAnswer{}, abi.Faultf(f.code, "the model does not answer")
	}
	if f.broken {
		return model.ChatAnswer{Object: json.RawMessage(`["a"]`)}, nil
	}
	var schema struct {
		Required   []string
		Properties struct {
			Intent struct{ Enum []*string }
		}
	}
	if err := json.Unmarshal(request.Schema, &schema); err != nil {
		return model.ChatAnswer{}, err
	}
	values := f.fields(schema.Required)
	if list := schema.Properties.Intent.Enum; list != nil {
		phrases := make([]string, len(list)-1) // the last item is null
		for i := range phrases {
			phrases[i] = *list[i]
		}
		values = map[string]any{"intent": f.intent(phrases)}
	}
	content, err := json.Marshal(values)
	return model.ChatAnswer{Object: content}, err
}
