package sdkjs_test

import (
	"fmt"
	"io/fs"

	sdkjs "github.com/toolrun/toolrun/sdk/js"
)

func Example() {
	names, err := fs.Glob(sdkjs.Files, "*.js")
	fmt.Println(names, err)
	// Output: [console.js errors.js format.js memory.js] <nil>
}
