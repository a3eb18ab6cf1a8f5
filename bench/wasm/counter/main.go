// Command counter is the plug-in that the benchmark measures.
package main

import toolrun "github.com/toolrun/toolrun/abi/guest/go"

type input struct {
	Calls bool `json:"calls"`
}

func init() { toolrun.Handle(count) }

func main() {}

func count(in input) (int, error) {
	var c struct {
		N int `json:"n"`
	}
	if !in.Calls {
		return c.N, nil
	}
	if _, err := toolrun.GetContent("counter", &c); err != nil {
		return 0, err
	}
	c.N++
	_, err := toolrun.SetContent("counter", c)
	return c.N, err
}
