package python

import (
	"encoding/json"
	"io/fs"
	"path"
	"sync"

	sdkpython "github.com/toolrun/toolrun/sdk/python-wasm"
)

const (
	guestFolder  = "guest"
	guestPackage = "_toolrun" // what the interpreter calls the package of the SDK that runs in it
	bootScript   = "boot.py"
)

// bootProgram is what the interpreter is started with. It reads guestFiles first.
var bootProgram = sync.OnceValue(func() string { return guestText(bootScript) })

// guestFiles are the modules of the SDK by their path, as a JSON object.
var guestFiles = sync.OnceValue(func() string {
	entries, err := fs.ReadDir(sdkpython.Guest, guestFolder)
	if err != nil {
		panic(err) // they are part of the program
	}
	texts := map[string]string{}
	for _, entry := range entries {
		if name := entry.Name(); name != bootScript {
			texts[path.Join(guestPackage, name)] = guestText(name)
		}
	}
	object, err := json.Marshal(texts)
	if err != nil {
		panic(err) // strings are JSON
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
