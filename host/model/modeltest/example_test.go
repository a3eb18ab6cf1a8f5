package modeltest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/toolrun/toolrun/host/model/modeltest"
)

func Example() {
	server := modeltest.Start()
	defer server.Close()
	server.Script(modeltest.Reply{Status: http.StatusTooManyRequests})
	for range 2 {
		body := strings.NewReader(`{"model": "small", "input": ["a text"]}`)
		response, err := http.Post(server.URL()+"/embeddings", "application/json", body)
		if err != nil {
			panic(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		fmt.Println(response.StatusCode, server.Requests()[0].Prompt)
	}
	// Output:
	// 429 a text
	// 200 a text
}
