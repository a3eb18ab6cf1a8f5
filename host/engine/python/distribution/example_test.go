package distribution_test

import (
	"fmt"
	"os"

	"github.com/toolrun/toolrun/host/engine/python/distribution"
)

func ExampleFind() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if _, ok := distribution.Find(dir); !ok {
		fmt.Println("no Python yet: distribution.Install fetches it")
	}
	// Output: no Python yet: distribution.Install fetches it
}
