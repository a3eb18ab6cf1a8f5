package storage

import (
	"errors"
	"fmt"
	"testing"
)

func testKey(i int) Key { return MakeKey(Part{Store, fmt.Sprintf("s%05d", i)}) }

// filled returns a History of a range of commits. Commit n wrote revision 1 of key n.
func filled(from, to int) *History {
	h := NewHistory(uint64(from - 1))
	for i := from; i <= to; i++ {
		h.Add(uint64(i), []Changed{{Version: Version{Key: testKey(i), Revision: 1}}})
	}
	return h
}

func TestHistoryForgetsTheOldest(t *testing.T) {
	for name, bound := range map[string]func(h *History){
		"changes": func(h *History) { h.maxChanges = 100 },
		"bytes":   func(h *History) { h.maxBytes = 100 * len(testKey(0)) },
	} {
		t.Run(name, func(t *testing.T) {
			h := NewHistory(0)
			bound(h)
			for i := 1; i <= 1000; i++ {
				h.Add(uint64(i), []Changed{{Version: Version{Key: testKey(i), Revision: 1}}})
				if len(h.kept) > 100 || len(h.text) != len(h.kept)*len(testKey(0)) {
					t.Fatalf("after %d commits the history keeps %d changes of %d bytes; want fewer", i, len(h.kept), len(h.text))
				}
			}
			if _, _, err := h.Changes("", EndOf(500), 10, 1000); !errors.Is(err, ErrTooOld) {
				t.Errorf("Changes since a forgotten commit = %v; want ErrTooOld", err)
			}
			found, next, err := h.Changes("", EndOf(950), 100, 999)
			if err != nil || len(found) != 49 || found[0].Key != testKey(951) || next != EndOf(999) {
				t.Errorf("Changes = %d from %v to %v, %v; want 49 up to the given commit", len(found), found[0].Key, next, err)
			}
			if _, _, err := h.Changes("", EndOf(1001), 1, 1000); !errors.Is(err, ErrTooOld) {
				t.Errorf("Changes since the future = %v; want ErrTooOld", err)
			}
		})
	}
}

func TestHistoryDiscards(t *testing.T) {
	h := filled(10, 20)
	h.Discard(19)
	found, next, err := h.Changes("", EndOf(17), 10, 20)
	if err != nil || len(found) != 1 || found[0].Key != testKey(18) || len(h.text) != 9*len(testKey(0)) {
		t.Errorf("Changes after Discard = %v, %v, %v, %d bytes; want commit 18", found, next, err, len(h.text))
	}
}

// TestSuspects checks which observations a History excludes from the suspects. A History may
// exclude a record or range only if it contains all changes since the observation.
func TestSuspects(t *testing.T) {
	h := filled(10, 40)
	var held Held
	for i := range 50 {
		held.Versions = append(held.Versions, Version{Key: testKey(i), Revision: 1})
	}
	held.Ranges = []Range{{Prefix: testKey(38)}, {Prefix: testKey(45)}}
	for _, c := range []struct {
		name             string
		since            Position
		upTo             uint64
		extra            []Key
		versions, ranges int
	}{
		{"the present", EndOf(40), 40, nil, 0, 0},
		{"written since", EndOf(35), 40, nil, 5, 1},
		{"written after the snapshot", EndOf(35), 37, nil, 2, 0},
		{"written in this commit", EndOf(40), 40, []Key{testKey(3), testKey(45)}, 2, 1},
		{"since the beginning", EndOf(9), 40, nil, 31, 1},
		{"before the beginning", EndOf(8), 40, nil, 50, 2},
		{"no position", Position{}, 40, nil, 50, 2},
		{"the future", EndOf(41), 40, nil, 50, 2},
	} {
		held.Since = c.since
		got := h.Suspects(held, c.upTo, c.extra)
		if len(got.Versions) != c.versions || len(got.Ranges) != c.ranges {
			t.Errorf("%s: %d versions and %d ranges are suspects; want %d, %d", c.name, len(got.Versions), len(got.Ranges), c.versions, c.ranges)
		}
	}
	few := Held{Since: EndOf(40), Versions: held.Versions[:smallCheck]}
	if got := h.Suspects(few, 40, nil); got.Size() != few.Size() {
		t.Errorf("%d suspects of a small Held; want all, because they are cheap to compare", got.Size())
	}
	floor := Version{Key: MakeKey(Part{System, "floor"}), Revision: 1}
	held.Since, held.Versions = EndOf(40), append(held.Versions, floor)
	if got := h.Suspects(held, 40, nil); len(got.Versions) != 1 || got.Versions[0] != floor {
		t.Errorf("the suspects are %v; want the floor, whose changes are not in the history", got.Versions)
	}
}
