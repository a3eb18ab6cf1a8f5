package problem_test

import (
	"fmt"

	"github.com/toolrun/toolrun/host/problem"
)

func Example() {
	problems := problem.List{
		problem.New("app.yaml", 7, 3, problem.UnknownKey, "write acces as access", "unknown key %q", "acces"),
	}
	fmt.Println(problems.Err())
	// Output:
	// app.yaml:7:3: unknown key "acces"
	//   hint: write acces as access
}
