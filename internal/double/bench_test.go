package double_test

import (
	"io"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/double"
)

// BenchmarkCall measures a call that is a separate run.
func BenchmarkCall(b *testing.B) {
	in, client := io.Pipe()
	replies := make(chan struct{})
	go func() {
		_ = double.Serve(b.Context(), in, writes(func() { replies <- struct{}{} }), double.Config{App: shop(b)})
	}()
	request := `{"do":"call","op":"set_content","args":["visits",{"n":1}],"user":"ann","session":"s"}` + "\n"
	for b.Loop() {
		if _, err := io.Copy(client, strings.NewReader(request)); err != nil {
			b.Fatal(err)
		}
		<-replies
	}
	client.Close()
}
