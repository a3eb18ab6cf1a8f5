package journal_test

import (
	"context"
	"fmt"

	"github.com/toolrun/toolrun/host/journal"
)

// A run sends a request to a model. After a conflict, the run is executed again. The second attempt
// gets the recorded answer.
func Example() {
	ctx := context.Background()
	ask := func(context.Context, string) ([]byte, error) {
		fmt.Println("the model is asked")
		return []byte("42"), nil
	}
	j := journal.New("run 1", journal.Limits{})
	for range 2 {
		attempt, err := j.Begin()
		if err != nil {
			panic(err)
		}
		answer, err := attempt.Do(ctx, journal.Request{Kind: "chat", Target: "local", Body: []byte("6 * 7?")}, ask)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s\n", answer)
		if err := attempt.End(ctx); err != nil {
			panic(err)
		}
	}
	// Output:
	// the model is asked
	// 42
	// 42
}
