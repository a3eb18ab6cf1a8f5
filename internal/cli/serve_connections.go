package cli

import (
	"runtime"

	"github.com/toolrun/toolrun/internal/connections"
)

const (
	// maxDefaultConnections bounds the memory of connections: one that waits takes about 20 KiB.
	maxDefaultConnections = 8192
	// leastConnections is the smallest --connections.
	leastConnections = 16
	// cellFiles are the descriptors that this process has for a cell: pipes, the process, its size, its control group.
	cellFiles = 10
	// otherFiles are those for everything else: the database, the port, app files, keys, traces.
	otherFiles = 64
)

// table makes what bounds the connections of the service.
func (f *serveFlags) table() (*connections.Table, error) {
	n, err := connectionsOf(f.connections, openFiles(), runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	return connections.New(connections.Limits{Connections: n}), nil
}

// connectionsOf returns how many connections a process may have that may have so many open files, less than 0 for any
// number. Cells for tools, and some for documents, leave the rest; a quarter is for connections in any case.
func connectionsOf(asked, files, processors int) (int, error) {
	if asked != 0 && asked < leastConnections {
		return 0, usagef("", "--connections is at least %d", leastConnections)
	}
	cells := 2*4*processors + 2*processors + 4 // at work and idle, those for documents, and spares
	most := max(files/4, files-cells*cellFiles-otherFiles, leastConnections)
	switch {
	case files >= 0 && asked > most:
		return 0, usagef("raise the limit of open files (ulimit -n, LimitNOFILE)", "--connections is %d, and %d open files leave %d", asked, files, most)
	case asked > 0:
		return asked, nil
	case files < 0:
		return maxDefaultConnections, nil
	}
	return min(most, maxDefaultConnections), nil
}

// watchConnections adds what metrics report of connections.
func (s *server) watchConnections() error {
	for _, gauge := range []struct {
		name, help string
		of         func(connections.Counts) float64
	}{
		{"toolrun_connections", "Connections that are open.", func(c connections.Counts) float64 { return float64(c.Open) }},
		{"toolrun_connections_strangers", "Connections that are open and without an admitted request.", func(c connections.Counts) float64 { return float64(c.Strangers) }},
		{"toolrun_connections_displaced", "Connections that were closed since the start to make room for others.", func(c connections.Counts) float64 { return float64(c.Closed) }},
	} {
		if err := s.telemetry.Gauge(gauge.name, gauge.help, func() float64 { return gauge.of(s.connections.Counts()) }); err != nil {
			return err
		}
	}
	return nil
}
