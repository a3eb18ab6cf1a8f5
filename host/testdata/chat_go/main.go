// Command chat_go is a plug-in that asks a model.
package main

import (
	toolrun "github.com/toolrun/toolrun/abi/guest/go"
)

func init() { toolrun.Handle(ask) }

func main() {}

func ask(struct{}) (string, error) {
	var answer struct {
		Text string `json:"text"`
	}
	request := map[string]any{"messages": []map[string]string{{"role": "user", "content": "hello"}}}
	_, err := toolrun.ModelChat("local", request, &answer)
	return answer.Text, err
}
