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

// idleCells is how many tenants have run a tool, each in a cell that waits for its next run.
const idleCells = 10

// idleJavaScript is what those cells hold of the machine's memory after a JavaScript run.
func idleJavaScript() ([]measure.Row, []measure.Figure, error) {
	return idleMemory("JavaScript", sandbox.Options{Cells: idleCells, Spares: -1}, func(h *host.Host, tenant int) error {
		return runSum(h, host.Caller{Tenant: "tenant" + strconv.Itoa(tenant), User: "ann"})
	}, sumApp)
}

func idleMemory(language string, options sandbox.Options, run func(h *host.Host, tenant int) error, files fs.FS, more ...engines.Option) (rows []measure.Row, figures []measure.Figure, err error) {
	before := cells()
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
	for i := range idleCells {
		if err := run(h, i); err != nil {
			return nil, nil, err
		}
	}
	idle := slices.DeleteFunc(cells(), func(pid string) bool { return slices.Contains(before, pid) })
	pss, rss, ok := resident(idle)
	if !ok || len(idle) != idleCells {
		missing := fmt.Sprintf("the system tells of %d of %d cells, and of their memory: %t", len(idle), idleCells, ok)
		return []measure.Row{{Name: "memory of idle cells after " + language, Missing: missing}}, nil, nil
	}
	each := fmt.Sprintf("memory of each of %d idle cells after %s, ", idleCells, language)
	return nil, []measure.Figure{
		{Name: each + "its own and its share of what is common (Pss)", Value: pss / idleCells, Unit: "MiB"},
		{Name: each + "all that it sees (Rss)", Value: rss / idleCells, Unit: "MiB"},
	}, nil
}

// cells are the process ids of all cells of this process, none where the system does not tell.
func cells() (pids []string) {
	lists, _ := filepath.Glob("/proc/self/task/*/children") // of a good pattern
	for _, list := range lists {
		text, _ := os.ReadFile(list) // of a thread that has ended there is none
		for child := range strings.FieldsSeq(string(text)) {
			command, _ := os.ReadFile(filepath.Join("/proc", child, "cmdline"))
			if bytes.HasSuffix(command, []byte("\x00cell\x00--serve\x00")) {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// resident adds up what proc_pid_smaps_rollup(5) tells of processes, in MiB.
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
