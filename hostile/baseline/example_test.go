package baseline_test

import (
	"fmt"

	"github.com/toolrun/toolrun/hostile/baseline"
)

func ExampleJudge() {
	// The process exited normally and reported that the record of another tool was changed.
	fmt.Println(baseline.Judge(false, false, 0, []byte(`{"intact":false}`)))
	// The tool code overflowed the stack of the process.
	fmt.Println(baseline.Judge(false, false, 2, []byte("")))
	// Output:
	// corrupt
	// died
}
