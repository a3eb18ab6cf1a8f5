package python_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/python"
	"github.com/toolrun/toolrun/host/engine/python/distribution"
)

// A tool runs in the interpreter that is installed in the user's cache folder.
func Example() {
	dir, err := os.UserCacheDir()
	if err != nil {
		log.Fatal(err)
	}
	dir = filepath.Join(dir, "toolrun")
	e := python.New(
		python.WithRuntime(func() ([]byte, error) {
			file, ok := distribution.Find(dir)
			if !ok {
				return nil, abi.Faultf(abi.SourceInvalid, "Python is not installed").WithHint("toolrun python install")
			}
			return distribution.Read(file)
		}),
		python.WithCache(filepath.Join(dir, "compiled")),
	)
	defer e.Close()

	ctx := context.Background()
	program, err := e.Load(ctx, engine.Source{Path: "greet.py", Code: []byte(`
def main(name):
    return f"Hello {name}!"
`)})
	if err != nil {
		log.Fatal(err)
	}
	defer program.Close()
	out, err := program.Run(ctx, engine.Input{Input: json.RawMessage(`{"name":"Ann"}`)}, engine.Host{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(out.Output)) // "Hello Ann!"
}

// If no interpreter exists, Load returns a fault. The hint of the fault describes the remedy.
func ExampleNew() {
	_, err := python.New().Load(context.Background(), engine.Source{Path: "greet.py", Code: []byte("return 1")})
	var fault *abi.Fault
	if errors.As(err, &fault) {
		fmt.Println(fault.Message)
		fmt.Println(fault.Hint)
	}
	// Output:
	// greet.py: no Python runtime is available
	// install it with toolrun python install, or set --python-wasm FILE
}
