package cli

import (
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/sandbox"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

// maxMetricsTenants is the maximum number of tenants with separate metrics. Each tenant with
// separate metrics adds about ten series.
const maxMetricsTenants = 1000

// tenantsOfMetrics parses the flag --metrics-tenants. The value of the flag is a list of tenants or
// a number. The results are the listed tenants, and the number of other tenants that can get
// separate metrics.
func (f *serveFlags) tenantsOfMetrics() (ids []string, first int, err error) {
	if n, err := strconv.Atoi(f.metricsTenants); err == nil {
		if n < 0 || n > maxMetricsTenants {
			return nil, 0, usagef("", "--metrics-tenants is %d; want 0 to %d, or a list of tenants", n, maxMetricsTenants)
		}
		return nil, n, nil
	}
	for id := range strings.SplitSeq(f.metricsTenants, ",") {
		if id = strings.TrimSpace(id); id != "" {
			ids = append(ids, id)
		}
	}
	if len(ids) > maxMetricsTenants {
		return nil, 0, usagef("", "--metrics-tenants names %d tenants; the maximum is %d", len(ids), maxMetricsTenants)
	}
	return ids, 0, nil
}

// gauge is a metric whose value is read when the metrics are collected. If the name of a gauge ends
// in "_total", the metric is a counter.
type gauge struct {
	name, help string
	read       func() float64
}

// watchParts adds metrics about the database, the workers, the admission gate, the search indexes
// and the models.
func (s *server) watchParts(models *model.Set) error {
	gauges := []gauge{
		{"toolrun_open_apps", "Open apps, counted per tenant.", func() float64 { return float64(s.apps.Open()) }},
		{"toolrun_runs_waiting", "Attempts of runs, and other work, that are queued.", func() float64 { return float64(s.gate.Waiting()) }},
	}
	gauges = append(gauges, s.reloaded.gauges()...)
	if db, ok := s.backend.(*bolt.Backend); ok {
		gauges = append(gauges, databaseGauges(db)...)
	}
	if c := s.certificate; c != nil {
		gauges = append(gauges, gauge{"toolrun_certificate_expiry_timestamp_seconds", "Expiry time of the certificate in use, in seconds since 1970.", func() float64 { return float64(c.expires().Unix()) }})
	}
	if pool := s.engines.tools.pool; pool != nil {
		gauges = append(gauges, workerGauges(pool)...)
	}
	gauges = append(gauges, indexGauges(s.apps)...)
	if models != nil {
		gauges = append(gauges, embeddingGauges(models)...)
	}
	return s.addGauges(gauges)
}

func (s *server) addGauges(gauges []gauge) error {
	for _, g := range gauges {
		add := s.telemetry.Gauge
		if strings.HasSuffix(g.name, "_total") {
			add = s.telemetry.Counter
		}
		if err := add(g.name, g.help, g.read); err != nil {
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
		{"toolrun_database_file_bytes", "Size of the database file, including free pages.", of(func(s bolt.Stats) int64 { return s.FileBytes })},
		{"toolrun_database_bytes", "Stored bytes of all tenants: keys and contents, including the service's own records.", of(func(s bolt.Stats) int64 { return s.Bytes })},
		{"toolrun_database_records", "Records in stores, of all tenants.", of(func(s bolt.Stats) int64 { return s.Records })},
		{"toolrun_database_disk_free_bytes", "Free bytes on the disk of the database; -1 if unknown.", of(func(s bolt.Stats) int64 { return s.DiskFree })},
		{"toolrun_database_commit_work_max_seconds", "Longest time for which one commit has blocked other commits since the start, excluding the write to disk.", func() float64 { return db.Stats().LongestWork.Seconds() }},
	}
}

// indexGauges returns metrics about the search indexes of collections.
func indexGauges(apps *tenants.Apps) []gauge {
	return []gauge{
		{"toolrun_index_bytes", "Approximate memory of the search indexes of collections.", func() float64 { return float64(tenants.IndexStats(apps).Bytes) }},
		{"toolrun_index_limit_bytes", "Maximum memory of the search indexes.", func() float64 { return float64(tenants.IndexStats(apps).Limit) }},
		{"toolrun_indexes", "Search indexes in memory. Each namespace with at least 256 entries has one after its first search.", func() float64 { return float64(tenants.IndexStats(apps).Indexes) }},
		{"toolrun_index_entries", "Entries in search indexes.", func() float64 { return float64(tenants.IndexStats(apps).Entries) }},
		{"toolrun_index_builds_total", "Search indexes that were built from all entries of a namespace.", func() float64 { return float64(tenants.IndexStats(apps).Builds) }},
		{"toolrun_index_evictions_total", "Search indexes that were removed from memory to stay below the limit.", func() float64 { return float64(tenants.IndexStats(apps).Evictions) }},
		{"toolrun_searches_total", "Searches in collections.", func() float64 { return float64(tenants.IndexStats(apps).Searches) }},
		{"toolrun_searches_without_index_total", "Searches that read all entries of a namespace.", func() float64 { return float64(tenants.IndexStats(apps).Scans) }},
		{"toolrun_search_seconds_total", "Total duration of searches, without the computation of vectors.", func() float64 { return tenants.IndexStats(apps).SearchTime.Seconds() }},
	}
}

// embeddingGauges returns metrics about embedding models. The built-in embedding model is not
// counted.
func embeddingGauges(models *model.Set) []gauge {
	known := func() float64 { hits, _ := models.Vectors().Counts(); return float64(hits) }
	made := func() float64 { _, misses := models.Vectors().Counts(); return float64(misses) }
	return []gauge{
		{"toolrun_embedding_calls_total", "Requests to embedding models.", func() float64 { return float64(models.Totals(model.Embeddings).Calls) }},
		{"toolrun_embedding_tokens_total", "Tokens of the requests to embedding models.", func() float64 { return float64(models.Totals(model.Embeddings).InputTokens) }},
		{"toolrun_embedding_cache_hits_total", "Texts whose vectors were in the cache.", known},
		{"toolrun_embedding_cache_misses_total", "Texts that were sent to embedding models.", made},
		{"toolrun_embedding_cache_bytes", "Memory of the cached vectors.", func() float64 { return float64(models.Vectors().Bytes()) }},
	}
}

func workerGauges(pool *sandbox.Pool) []gauge {
	of := func(pick func(sandbox.Counts) int) func() float64 {
		return func() float64 { return float64(pick(pool.Counts())) }
	}
	return []gauge{
		{"toolrun_workers_busy", "Worker processes that are running a tool.", of(func(c sandbox.Counts) int { return c.Busy })},
		{"toolrun_workers_idle", "Idle worker processes that have run tools of one tenant.", of(func(c sandbox.Counts) int { return c.Idle })},
		{"toolrun_workers_spare", "Worker processes that have not run a tool yet.", of(func(c sandbox.Counts) int { return c.Spare })},
	}
}
