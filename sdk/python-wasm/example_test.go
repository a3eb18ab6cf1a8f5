package sdkpython_test

import (
	"fmt"
	"io/fs"

	sdkpython "github.com/toolrun/toolrun/sdk/python-wasm"
)

func Example() {
	info, err := fs.Stat(sdkpython.Guest, "toolrun/guest/boot.py")
	fmt.Println(info.Name(), err)
	// Output: boot.py <nil>
}
