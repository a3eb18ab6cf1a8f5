package cli

import "testing"

func TestIDBefore(t *testing.T) {
	for id, want := range map[string]string{
		"run_01ARZ3NDEKTSV4RRFFQ69G5FAV": "run_01ARZ3NDEKTSV4RRFFQ69G5FAT",
		"run_01ARZ3NDEKTSV4RRFFQ69G5F00": "run_01ARZ3NDEKTSV4RRFFQ69G5EZZ",
		"op_01ARZ3NDEKTSV4RRFFQ69G5FJ0":  "op_01ARZ3NDEKTSV4RRFFQ69G5FHZ",
	} {
		if got := idBefore(id); got != want {
			t.Errorf("idBefore(%s) = %s; want %s", id, got, want)
		}
	}
}
