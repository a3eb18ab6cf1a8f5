package cli

import (
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/host/sandbox"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

// mostMetricsTenants bounds the tenants with metrics of their own: each has some ten series.
const mostMetricsTenants = 1000

// tenantsOfMetrics returns the tenants that have metrics of their own, and how many more get some: --metrics-tenants is a
// list or a number.
func (f *serveFlags) tenantsOfMetrics() (ids []string, first int, err error) {
	if n, err := strconv.Atoi(f.metricsTenants); err == nil {
		if n < 0 || n > mostMetricsTenants {
			return nil, 0, usagef("", "--metrics-tenants is %d; it is 0 to %d, or a list of tenants", n, mostMetricsTenants)
		}
		return nil, n, nil
	}
	for id := range strings.SplitSeq(f.metricsTenants, ",") {
		if id = strings.TrimSpace(id); id != "" {
			ids = append(ids, id)
		}
	}
	if len(ids) > mostMetricsTenants {
		return nil, 0, usagef("", "--metrics-tenants names %d tenants; at most %d have metrics of their own", len(ids), mostMetricsTenants)
	}
	return ids, 0, nil
}

// gauge is a metric that is read when metrics are.
type gauge struct {
	name, help string
	read       func() float64
}

// watchParts adds what metrics report of the database, the workers and the gate.
func (s *server) watchParts() error {
	gauges := []gauge{
		{"toolrun_open_apps", "Apps of tenants that are open.", func() float64 { return float64(s.apps.Open()) }},
		{"toolrun_runs_waiting", "Attempts of runs, and other work, that wait for their turn.", func() float64 { return float64(s.gate.Waiting()) }},
	}
	gauges = append(gauges, s.reloaded.gauges()...)
	if db, ok := s.backend.(*bolt.Backend); ok {
		gauges = append(gauges, databaseGauges(db)...)
	}
	if c := s.certificate; c != nil {
		gauges = append(gauges, gauge{"toolrun_certificate_expiry_timestamp_seconds", "When the certificate in use expires, in seconds since 1970.", func() float64 { return float64(c.expires().Unix()) }})
	}
	if pool := s.engines.tools.pool; pool != nil {
		gauges = append(gauges, workerGauges(pool)...)
	}
	return s.addGauges(gauges)
}

func (s *server) addGauges(gauges []gauge) error {
	for _, g := range gauges {
		if err := s.telemetry.Gauge(g.name, g.help, g.read); err != nil {
			return err
		}
	}
	return nil
}

func databaseGauges(db *bolt.Backend) []gauge {
	of := func(pick func(bolt.Stats) int64) func() float64 {
		return func() float64 { return float64(pick(db.Stats())) }
	}
	return []gauge{
		{"toolrun_database_file_bytes", "Size of the file of the database, free pages included.", of(func(s bolt.Stats) int64 { return s.FileBytes })},
		{"toolrun_database_bytes", "What is stored, of all tenants: keys and contents, the service's own records included.", of(func(s bolt.Stats) int64 { return s.Bytes })},
		{"toolrun_database_records", "Records of stores, of all tenants.", of(func(s bolt.Stats) int64 { return s.Records })},
		{"toolrun_database_disk_free_bytes", "What is free on the disk of the database; -1 if that is unknown.", of(func(s bolt.Stats) int64 { return s.DiskFree })},
		{"toolrun_database_commit_work_max_seconds", "The longest that one commit has held up others since the start, without the time to write it.", func() float64 { return db.Stats().LongestWork.Seconds() }},
	}
}

func workerGauges(pool *sandbox.Pool) []gauge {
	of := func(pick func(sandbox.Counts) int) func() float64 {
		return func() float64 { return float64(pick(pool.Counts())) }
	}
	return []gauge{
		{"toolrun_workers_busy", "Worker processes that run a tool.", of(func(c sandbox.Counts) int { return c.Busy })},
		{"toolrun_workers_idle", "Worker processes that have run a tool of some tenant, and wait for the next one of it.", of(func(c sandbox.Counts) int { return c.Idle })},
		{"toolrun_workers_spare", "Worker processes that wait and that no tool was in.", of(func(c sandbox.Counts) int { return c.Spare })},
	}
}
