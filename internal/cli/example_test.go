package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolrun/toolrun/internal/cli"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	tool := `return "hello " + input.name;`
	if err := os.WriteFile(filepath.Join(dir, "greet.js"), []byte(tool), 0o600); err != nil {
		panic(err)
	}
	exit := cli.Main(context.Background(), cli.Env{
		Args:   []string{"run", "./greet.js", "name=Ann"},
		Dir:    dir,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
	})
	fmt.Println("exit code", exit)
	// Output:
	// "hello Ann"
	// exit code 0
}
