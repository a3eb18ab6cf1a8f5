package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/bench/measure"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/sandbox"
)

// idleWorkers is the number of tenants that run a tool before the memory is measured. After its
// run, each tenant has its own idle worker.
const idleWorkers = 10

// idleJavaScript measures the memory of idle workers after a JavaScript run.
func idleJavaScript() ([]measure.Row, []measure.Figure, error) {
	return idleMemory("JavaScript", sandbox.Options{Workers: idleWorkers, Spares: -1}, func(h *host.Host, tenant int) error {
		return runSum(h, host.Caller{Tenant: "tenant" + strconv.Itoa(tenant), User: "ann"})
	}, sumApp)
}

func idleMemory(language string, options sandbox.Options, run func(h *host.Host, tenant int) error, files fs.FS, more ...engines.Option) (rows []measure.Row, figures []measure.Figure, err error) {
	before := workerPIDs()
	pool, err := engines.NewPool(options, more...)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	h, err := openHost(files, pool.Engines(), nil)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	for i := range idleWorkers {
		if err := run(h, i); err != nil {
			return nil, nil, err
		}
	}
	idle := slices.DeleteFunc(workerPIDs(), func(pid string) bool { return slices.Contains(before, pid) })
	pss, rss, ok := resident(idle)
	if !ok || len(idle) != idleWorkers {
		missing := fmt.Sprintf("the system reports %d of %d workers, and their memory: %t", len(idle), idleWorkers, ok)
		return []measure.Row{{Name: "memory of idle workers after " + language, Missing: missing}}, nil, nil
	}
	each := fmt.Sprintf("memory of each of %d idle workers after %s, ", idleWorkers, language)
	return nil, []measure.Figure{
		{Name: each + "private plus its share of shared pages (Pss)", Value: pss / idleWorkers, Unit: "MiB"},
		{Name: each + "including shared pages (Rss)", Value: rss / idleWorkers, Unit: "MiB"},
	}, nil
}

// workerPIDs returns the process ids of all workers of this process. If the system does not list
// processes, the result is empty.
func workerPIDs() (pids []string) {
	lists, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is valid
	for _, list := range lists {
		text, _ := os.ReadFile(list) // the file is empty if the thread has ended
		for child := range strings.FieldsSeq(string(text)) {
			command, _ := os.ReadFile(filepath.Join("/proc", child, "cmdline"))
			if bytes.HasSuffix(command, []byte("\x00worker\x00--serve\x00")) {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// resident returns the total resident memory of the given processes, in MiB. The values come from
// the files that proc_pid_smaps_rollup(5) describes.
func resident(pids []string) (pss, rss float64, ok bool) {
	for _, pid := range pids {
		text, err := os.ReadFile(filepath.Join("/proc", pid, "smaps_rollup"))
		if err != nil {
			return 0, 0, false
		}
		for line := range strings.Lines(string(text)) {
			name, amount, _ := strings.Cut(line, ":")
			kib, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(amount), " kB"), 64)
			switch name {
			case "Pss":
				pss += kib / 1024
			case "Rss":
				rss += kib / 1024
			}
		}
	}
	return pss, rss, true
}
