package openai_test

import (
	"context"
	"fmt"

	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/model/openai"
)

func Example() {
	server := modeltest.Start() // this server replaces a real provider
	defer server.Close()
	server.Script(modeltest.Reply{Status: 429}, modeltest.Reply{Text: "Hello!"})

	provider, err := openai.New(openai.Options{BaseURL: server.URL(), Model: "small"})
	if err != nil {
		panic(err)
	}
	answer, err := provider.Chat(context.Background(), model.ChatRequest{
		Messages: []model.Message{{Role: model.User, Content: "Say hello."}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Text, answer.Usage.OutputTokens, len(server.Requests()))
	// Output: Hello! 2 2
}
