package baseline_test

import (
	"fmt"

	"github.com/toolrun/toolrun/hostile/baseline"
)

func ExampleJudge() {
	// In the first example, the process exited normally and reported that the record of another
	// tool was changed.
	fmt.Println(baseline.Judge(false, false, 0, []byte(`{"intact":false}`)))
	// In the second example, the tool code overflowed the stack of the process.
	fmt.Println(baseline.Judge(false, false, 2, []byte("")))
	// Output:
	// corrupt
	// died
}
