package python

import (
	"encoding/json"
	"io/fs"
	"path"
	"sync"

	sdkpython "github.com/toolrun/toolrun/sdk/python-wasm"
)

const (
	guestFolder  = "toolrun/guest"
	guestPackage = "_toolrun" // the name of the SDK's guest package in the interpreter
	bootScript   = "boot.py"
)

// bootProgram returns the Python program that starts the interpreter. bootProgram first reads
// guestFiles.
var bootProgram = sync.OnceValue(func() string { return guestText(bootScript) })

// guestFiles returns a JSON object that maps paths to the texts of the SDK's guest modules.
var guestFiles = sync.OnceValue(func() string {
	entries, err := fs.ReadDir(sdkpython.Guest, guestFolder)
	if err != nil {
		panic(err) // an error is impossible, because the files are embedded
	}
	texts := map[string]string{}
	for _, entry := range entries {
		if name := entry.Name(); name != bootScript {
			texts[path.Join(guestPackage, name)] = guestText(name)
		}
	}
	object, err := json.Marshal(texts)
	if err != nil {
		panic(err) // an error is impossible, because strings can always be encoded as JSON
	}
	return string(object)
})

func guestText(name string) string {
	text, err := fs.ReadFile(sdkpython.Guest, path.Join(guestFolder, name))
	if err != nil {
		panic(err)
	}
	return string(text)
}
