package main

import (
	"errors"
	"strconv"
	"time"

	"github.com/toolrun/toolrun/bench/measure"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/sandbox"
)

// These cases measure the first run of a tool.
const (
	coldStart = "first answer of a new pool"
	newTenant = "first run of a new tenant, with a spare worker"
)

// settling is the time for which the benchmark waits until a spare worker has started. A worker
// starts in less time than this. No signal reports that the spare worker is ready.
const settling = 20 * time.Millisecond

// starts contains a host. Each measured run on this host has a new tenant.
type starts struct {
	closers
	host    *host.Host
	tenants int
}

func openStarts() (*starts, error) {
	s := &starts{}
	pool, err := engines.NewPool(sandbox.Options{})
	if err != nil {
		return nil, err
	}
	s.add(pool.Close)
	if s.host, err = openHost(sumApp, pool.Engines(), nil); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.add(s.host.Close)
	return s, nil
}

func (s *starts) cases() []*measure.Case {
	return []*measure.Case{
		{Name: coldStart, Workers: 1, Sample: sampleOf(cold)},
		{Name: newTenant, Workers: 1, Sample: sampleOf(s.tenant)},
	}
}

// sampleOf calls a function repeatedly. The called function measures its own time. The measured
// time excludes setup and cleanup.
func sampleOf(call func() (time.Duration, error)) func(time.Duration) (measure.Sample, error) {
	return func(span time.Duration) (sample measure.Sample, err error) {
		for began := time.Now(); time.Since(began) < span; {
			took, err := call()
			if err != nil {
				return sample, err
			}
			sample.Took = append(sample.Took, took)
			sample.Span += took
		}
		return sample, nil
	}
}

// cold measures the time to create a pool and a host and to get the result of the first run. In
// this time, a worker starts, compiles the tool and runs it.
func cold() (took time.Duration, err error) {
	began := time.Now()
	pool, err := engines.NewPool(sandbox.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	h, err := openHost(sumApp, pool.Engines(), nil)
	if err != nil {
		return 0, err
	}
	err = runSum(h, user(0))
	took = time.Since(began)
	return took, errors.Join(err, h.Close())
}

// tenant runs the tool for a tenant that has no worker. A spare worker compiles the tool and runs
// it.
func (s *starts) tenant() (time.Duration, error) {
	if s.tenants == 0 { // the pool starts no spare worker before the first run has ended
		if err := runSum(s.host, host.Caller{Tenant: "first", User: "ann"}); err != nil {
			return 0, err
		}
	}
	time.Sleep(settling)
	s.tenants++
	began := time.Now()
	err := runSum(s.host, host.Caller{Tenant: "tenant" + strconv.Itoa(s.tenants), User: "ann"})
	return time.Since(began), err
}

func startFigures(rows measure.Rows) []measure.Figure {
	return []measure.Figure{
		{Name: "a cold start, from nothing to the first result, p50", Value: rows[coldStart].P50 / 1000, Unit: "ms"},
		{Name: "a new tenant's first result, with a spare worker, p50", Value: rows[newTenant].P50 / 1000, Unit: "ms"},
		rows.Over("ratio of a new tenant's first run to later runs in the same worker, p50", newTenant, "", inWorker),
	}
}
