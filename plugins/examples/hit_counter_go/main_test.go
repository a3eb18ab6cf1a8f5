package main

import (
	"errors"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/guest/go/toolruntest"
)

func TestCount(t *testing.T) {
	h := toolruntest.New(t)
	h.Set("pageHits", pageHits{Pages: map[string]int{"/": 7}})
	for i, page := range []string{"/home", "/home", "/"} {
		want := output{Page: page, Hits: []int{1, 2, 8}[i]}
		if got, err := count(input{Page: page}); err != nil || got != want {
			t.Errorf("count(%s) = %+v, %v; want %+v", page, got, err, want)
		}
	}
	if got, want := string(h.Get("pageHits")), `{"pages":{"/":8,"/home":2}}`; got != want {
		t.Errorf("content = %s; want %s", got, want)
	}
}

func TestCountWithoutMemory(t *testing.T) {
	h := toolruntest.New(t)
	h.Fail("pageHits", abi.Faultf(abi.Unavailable, "memory is unavailable"))
	if got, err := count(input{Page: "/"}); !errors.Is(err, abi.Unavailable) {
		t.Errorf("count = %+v, %v; want %s", got, err, abi.Unavailable)
	}
}
