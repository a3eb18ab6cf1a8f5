package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// typeFaults contains the fault codes of a tool that receives a string but expects another type.
var typeFaults = []abi.Code{abi.ToolError, abi.SchemaViolation, abi.OutputInvalid, abi.InvalidArgument}

// adviseTexts adds a hint to the fault of a run if a key=value argument looks like a number or a
// boolean. A key=value argument always passes a string. The hint is added only for tools without an
// input schema, because other tools validate the types of their inputs. The argument "declares"
// reports whether the tool has an input schema.
func adviseTexts(err error, pairs []string, declares func() bool) error {
	f, ok := errors.AsType[*abi.Fault](err)
	if !ok || !slices.Contains(typeFaults, f.Code) {
		return err
	}
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		kind := kindOf(value)
		if kind == "" || strings.HasSuffix(key, ":") {
			continue
		}
		if declares() {
			return err
		}
		hint := shellWord(key+"="+value) + " passes a string; write " + shellWord(key+":="+value) + " to pass a " + kind
		if f.Hint != "" {
			hint = f.Hint + "; " + hint
		}
		return f.WithHint("%s", hint)
	}
	return err
}

// kindOf returns the type of a text that is a JSON number or a JSON boolean, or "" for any other
// text.
func kindOf(text string) string {
	switch {
	case text == "true" || text == "false":
		return "boolean"
	case text == "" || !strings.Contains("-0123456789", text[:1]) || strictjson.Check([]byte(text), strictjson.Limits{}) != nil:
		return ""
	}
	return "number"
}
