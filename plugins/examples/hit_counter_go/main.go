// Command hit_counter_go is the tool hit_counter as a plug-in in Go.
package main

import (
	toolrun "github.com/toolrun/toolrun/abi/guest/go"
)

//go:generate env GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -buildvcs=false -ldflags=-s -o tool.wasm .
//go:generate sh -c "go env GOVERSION >toolchain.txt"

// input is what the tool is asked.
type input struct {
	Page string `json:"page"`
}

// output is what it answers.
type output struct {
	Page string `json:"page"`
	Hits int    `json:"hits"`
}

// pageHits is the content of the store of that name.
type pageHits struct {
	Pages map[string]int `json:"pages"`
}

func init() { toolrun.Handle(count) }

func main() {}

// count reads a number, adds one and writes it back. Runs at the same time cannot lose a hit: a run is a
// transaction, and one that read what another has changed since is executed again.
func count(in input) (output, error) {
	var stored pageHits
	if _, err := toolrun.GetContent("pageHits", &stored); err != nil {
		return output{}, err
	}
	hits := stored.Pages[in.Page] + 1
	// Merged into the record, so the counts of other pages stay.
	_, err := toolrun.SetContent("pageHits", pageHits{Pages: map[string]int{in.Page: hits}})
	return output{Page: in.Page, Hits: hits}, err
}
