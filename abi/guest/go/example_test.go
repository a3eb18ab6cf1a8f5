package toolrun_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/toolrun/toolrun/abi"
	toolrun "github.com/toolrun/toolrun/abi/guest/go"
	"github.com/toolrun/toolrun/abi/guest/go/toolruntest"
)

// t stands for the test that an example is not.
var t testing.TB = exampleTB{}

type exampleTB struct{ testing.TB }

func (exampleTB) Helper() {}

// Cleanup keeps what ends the host for the example to call.
func (exampleTB) Cleanup(f func()) { release = f }

var release func()

type greetInput struct {
	Name     string `json:"name"`
	Language string `json:"language,omitempty"`
}

// greet is a tool: a plug-in gives it to toolrun.Handle.
func greet(in greetInput) (string, error) {
	var prefs struct {
		Language string `json:"language"`
	}
	if in.Language != "" {
		if _, err := toolrun.SetContent("prefs", map[string]any{"language": in.Language}); err != nil {
			return "", err
		}
	}
	if _, err := toolrun.GetContent("prefs", &prefs); err != nil {
		return "", err
	}
	if prefs.Language == "de" {
		return "Guten Tag, " + in.Name, nil
	}
	return "Hello, " + in.Name, nil
}

func Example() {
	h := toolruntest.New(t)
	defer func() { release() }()
	for _, in := range []greetInput{{Name: "Ann"}, {Name: "Ann", Language: "de"}, {Name: "Ann"}} {
		out, err := toolruntest.Run(h, greet, in)
		fmt.Println(string(out), err)
	}
	fmt.Println(string(h.Get("prefs")))
	// Output:
	// "Hello, Ann" <nil>
	// "Guten Tag, Ann" <nil>
	// "Guten Tag, Ann" <nil>
	// {"language":"de"}
}

// A call that the host refuses has a code.
func ExampleSetContent() {
	h := toolruntest.New(t)
	defer func() { release() }()
	h.Fail("prefs", abi.Faultf(abi.ReadOnly, "the store prefs is read only"))

	_, err := toolrun.SetContent("prefs", map[string]any{"language": "de"})
	fmt.Println(errors.Is(err, abi.ReadOnly), err)
	// Output: true read_only: the store prefs is read only
}
