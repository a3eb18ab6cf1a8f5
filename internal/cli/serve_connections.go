package cli

import (
	"runtime"

	"github.com/toolrun/toolrun/internal/connections"
)

const (
	// maxDefaultConnections is the maximum value of the default of --connections. The maximum
	// limits the memory for connections, because an idle connection uses about 20 KiB.
	maxDefaultConnections = 8192
	// minConnections is the smallest valid value of --connections.
	minConnections = 16
	// workerFiles is the number of file descriptors that the service needs for each worker process.
	// Some of the descriptors are for the pipes and the control group of the worker process.
	workerFiles = 10
	// otherFiles is the number of file descriptors for the database, the listener, app files, keys
	// and traces.
	otherFiles = 64
)

// table returns the table that limits the connections of the service.
func (f *serveFlags) table() (*connections.Table, error) {
	n, err := connectionsOf(f.connections, openFiles(), runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	return connections.New(connections.Limits{Connections: n}), nil
}

// connectionsOf returns the maximum number of connections. The argument "files" is the maximum
// number of open files. If "files" is negative, the number is not limited. Worker
// processes need some of the open files, but at least a quarter of the open files is for
// connections.
func connectionsOf(requested, files, processors int) (int, error) {
	if requested != 0 && requested < minConnections {
		return 0, usagef("", "--connections must be at least %d", minConnections)
	}
	workers := 2*4*processors + 2*processors + 4 // running and idle workers, workers for documents, and spare workers
	limit := max(files/4, files-workers*workerFiles-otherFiles, minConnections)
	switch {
	case files >= 0 && requested > limit:
		return 0, usagef("raise the limit of open files (ulimit -n, LimitNOFILE)", "--connections is %d, but a limit of %d open files allows %d", requested, files, limit)
	case requested > 0:
		return requested, nil
	case files < 0:
		return maxDefaultConnections, nil
	}
	return min(limit, maxDefaultConnections), nil
}

// watchConnections adds the metrics about connections.
func (s *server) watchConnections() error {
	for _, gauge := range []struct {
		name, help string
		of         func(connections.Counts) float64
	}{
		{"toolrun_connections", "Open connections.", func(c connections.Counts) float64 { return float64(c.Open) }},
		{"toolrun_connections_strangers", "Open connections without an authenticated request so far.", func(c connections.Counts) float64 { return float64(c.Strangers) }},
		{"toolrun_connections_displaced", "Connections closed to make room for others, since the start.", func(c connections.Counts) float64 { return float64(c.Closed) }},
	} {
		if err := s.telemetry.Gauge(gauge.name, gauge.help, func() float64 { return gauge.of(s.connections.Counts()) }); err != nil {
			return err
		}
	}
	return nil
}
