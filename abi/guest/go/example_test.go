package toolrun_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/toolrun/toolrun/abi"
	toolrun "github.com/toolrun/toolrun/abi/guest/go"
	"github.com/toolrun/toolrun/abi/guest/go/toolruntest"
)

// t is used in place of a *testing.T, which an example does not have.
var t testing.TB = exampleTB{}

type exampleTB struct{ testing.TB }

func (exampleTB) Helper() {}

// Cleanup stores the function that removes the host. The example calls it at the end.
func (exampleTB) Cleanup(f func()) { release = f }

var release func()

type greetInput struct {
	Name     string `json:"name"`
	Language string `json:"language,omitempty"`
}

// greet is a tool, which a plug-in passes to toolrun.Handle.
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

// A failed call returns a fault with a code.
func ExampleSetContent() {
	h := toolruntest.New(t)
	defer func() { release() }()
	h.Fail("prefs", abi.Faultf(abi.ReadOnly, "the store prefs is read-only"))

	_, err := toolrun.SetContent("prefs", map[string]any{"language": "de"})
	fmt.Println(errors.Is(err, abi.ReadOnly), err)
	// Output: true read_only: the store prefs is read-only
}
