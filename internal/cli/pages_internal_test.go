package cli

import (
	"slices"
	"strconv"
	"testing"
)

// TestAllPages checks that all pages of a list are read, including short pages and empty pages. If
// a page refers to itself as the next page, the result must be an error.
func TestAllPages(t *testing.T) {
	pages := [][]int{{1, 2}, {}, {3}}
	got, err := allPages(func(after string) ([]int, string, error) {
		n, _ := strconv.Atoi(after)
		if n+1 == len(pages) {
			return pages[n], "", nil
		}
		return pages[n], strconv.Itoa(n + 1), nil
	})
	if err != nil || !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("the items = %v, %v; want those of all pages", got, err)
	}
	if _, err := allPages(func(string) ([]int, string, error) { return nil, "same", nil }); err == nil {
		t.Error("allPages of an endless list = nil; want an error")
	}
}
