// Command hit_counter_go is the tool hit_counter as a plug-in in Go.
package main

import (
	toolrun "github.com/toolrun/toolrun/abi/guest/go"
)

//go:generate env GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -buildvcs=false -ldflags=-s -o tool.wasm .
//go:generate sh -c "go env GOVERSION >toolchain.txt"

// input is the input of the tool.
type input struct {
	Page string `json:"page"`
}

// output is the output of the tool.
type output struct {
	Page string `json:"page"`
	Hits int    `json:"hits"`
}

// pageHits is the content of the store pageHits.
type pageHits struct {
	Pages map[string]int `json:"pages"`
}

func init() { toolrun.Handle(count) }

func main() {}

// count reads a number, adds one and writes the sum. Concurrent runs do not lose hits, because a
// run is a transaction: if another run changes a record that this run has read, this run is
// executed again.
func count(in input) (output, error) {
	var stored pageHits
	if _, err := toolrun.GetContent("pageHits", &stored); err != nil {
		return output{}, err
	}
	hits := stored.Pages[in.Page] + 1
	// SetContent merges the value into the record, so the counts of other pages are kept.
	_, err := toolrun.SetContent("pageHits", pageHits{Pages: map[string]int{in.Page: hits}})
	return output{Page: in.Page, Hits: hits}, err
}
