package cli

import "testing"

// TestConnectionsOf checks the maximum number of connections. Enough file descriptors must remain
// for worker processes and for other parts of the service.
func TestConnectionsOf(t *testing.T) {
	for _, one := range []struct{ requested, files, processors, want int }{
		{0, 220, 2, 55}, {0, 1024, 2, 720}, {0, 65536, 2, 8192}, {0, 65536, 64, 8192}, {0, -1, 2, 8192}, {0, 20, 2, 16},
		{500, 1024, 2, 500}, {20_000, 65536, 2, 20_000}, {20_000, -1, 2, 20_000},
		{721, 1024, 2, -1}, {5, 1024, 2, -1}, {-1, 1024, 2, -1},
	} {
		got, err := connectionsOf(one.requested, one.files, one.processors)
		if err != nil {
			got = -1
		}
		if got != one.want {
			t.Errorf("connectionsOf(%d, %d, %d) = %d, %v; want %d", one.requested, one.files, one.processors, got, err, one.want)
		}
	}
}
