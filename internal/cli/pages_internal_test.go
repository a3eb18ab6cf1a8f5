package cli

import (
	"slices"
	"strconv"
	"testing"
)

// All pages of a list are read, short and empty ones too; one that is followed by itself ends it with an error.
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
		t.Error("a list that does not end is read without an error")
	}
}
