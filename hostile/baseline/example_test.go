package baseline_test

import (
	"fmt"

	"github.com/toolrun/toolrun/hostile/baseline"
)

func ExampleJudge() {
	// The process exited on its own and reports that the record of another tool was changed.
	fmt.Println(baseline.Judge(false, false, 0, []byte(`{"intact":false}`)))
	// A guest overflowed the stack of the process.
	fmt.Println(baseline.Judge(false, false, 2, []byte("")))
	// Output:
	// corrupt
	// died
}
