package baseline

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"
)

// script runs a JavaScript file in goja, and interrupts the script at the deadline.
func script(h *host, file string, input []byte) ([]byte, error) {
	code, err := source(file)
	if err != nil {
		return nil, err
	}
	var values map[string]any
	if err := json.Unmarshal(input, &values); err != nil {
		return nil, err
	}
	vm := goja.New()
	h.bind(vm, values)
	defer time.AfterFunc(h.deadline, func() { vm.Interrupt("it takes too long") }).Stop()
	result, err := vm.RunScript(file, code)
	if err != nil {
		return nil, err
	}
	if promise, ok := result.Export().(*goja.Promise); ok {
		switch promise.State() {
		case goja.PromiseStatePending:
			return nil, errors.New("the promise was neither fulfilled nor rejected")
		case goja.PromiseStateRejected:
			return nil, fmt.Errorf("the promise was rejected: %v", promise.Result())
		}
		result = promise.Result()
	}
	return json.Marshal(result.Export())
}

var isModule = regexp.MustCompile(`(?m)^(import|export|module\.exports)\b|\bimport\(`)

// source reads a file and returns its code as the body of a function. If the file is a module, the
// result contains esbuild's bundle of the module and a call to the module's export.
func source(file string) (string, error) {
	code, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if !isModule.Match(code) {
		return "(async function () {" + string(code) + "\n})()", nil
	}
	built := api.Build(api.BuildOptions{EntryPoints: []string{file}, Bundle: true, Format: api.FormatCommonJS, Target: api.ES2020})
	if len(built.Errors) > 0 {
		return "", errors.New(built.Errors[0].Text)
	}
	return "(async function () { const module = {exports: {}};" + string(built.OutputFiles[0].Contents) +
		"\nreturn (module.exports.default ?? module.exports.main)(input, context); })()", nil
}
