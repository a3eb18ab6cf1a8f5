package baseline_test

import (
	"fmt"

	"github.com/toolrun/toolrun/hostile/baseline"
)

func ExampleJudge() {
	// What a process left behind that ended by itself: it says that another tool's record is not what it was.
	fmt.Println(baseline.Judge(false, false, 0, []byte(`{"intact":false}`)))
	// And one that a guest overflowed the stack of.
	fmt.Println(baseline.Judge(false, false, 2, []byte("")))
	// Output:
	// corrupt
	// died
}
