package cachefs_test

import (
	"fmt"
	"io/fs"
	"testing/fstest"

	"github.com/toolrun/toolrun/internal/cachefs"
)

func Example() {
	below := fstest.MapFS{"tool.js": {Data: []byte("return 1")}}
	files := cachefs.New(below)
	first, _ := fs.ReadFile(files, "tool.js")
	below["tool.js"] = &fstest.MapFile{Data: []byte("return 2")}
	again, _ := fs.ReadFile(files, "tool.js")
	fmt.Printf("%s, %s\n", first, again)
	// Output: return 1, return 1
}
