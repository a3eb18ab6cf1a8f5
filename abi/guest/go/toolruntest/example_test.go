package toolruntest_test

import (
	"fmt"
	"testing"

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

func ExampleRun() {
	h := toolruntest.New(t)
	defer func() { release() }()
	h.Set("pageHits", map[string]int{"home": 7})

	hit := func(in struct{ Page string }) (int, error) {
		hits := map[string]int{}
		if _, err := toolrun.GetContent("pageHits", &hits); err != nil {
			return 0, err
		}
		hits[in.Page]++
		_, err := toolrun.SetContent("pageHits", hits)
		return hits[in.Page], err
	}
	out, err := toolruntest.Run(h, hit, map[string]string{"page": "home"})
	fmt.Println(string(out), err, string(h.Get("pageHits")))
	// Output: 8 <nil> {"home":8}
}
