package machine_test

import (
	"fmt"

	"github.com/toolrun/toolrun/host/machine"
)

func Example() {
	source := []byte("machine greet\naccepts\nname as text, is required\nimplements\ncompute text\n{\ngreeting: `Hello ${input.name}`\n}\n")
	doc, problems := machine.Parse("greet.machine", source)
	fmt.Println(doc.Name.Value, string(doc.InputSchema()), len(problems))
	formatted, err := machine.Format("greet.machine", source)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Print(string(formatted))
	// Output:
	// greet {"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false} 0
	// machine greet
	//   accepts
	//     name as text, is required
	//   implements
	//     compute text
	//       {
	//         greeting: `Hello ${input.name}`
	//       }
}
