package main

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// job is one invocation of go test.
type job struct {
	folder   string // of the module
	packages []string
	raced    bool
	flags    []string // flags of go test
}

// jobs returns the jobs that together run every test of a module: one job for each set of flags.
func jobs(folders []string) (all []job, err error) {
	for _, folder := range folders {
		raced, plain, err := packages(folder)
		if err != nil {
			return nil, err
		}
		if !compilerFound() {
			all = append(all, job{folder: folder, packages: slices.Concat(plain, raced)})
			continue
		}
		all = append(all,
			job{folder: folder, packages: raced, raced: true, flags: []string{"-race", "-skip", pattern(computing)}},
			job{folder: folder, packages: plain})
	}
	if compilerFound() {
		all = append(all, job{folder: ".", packages: packagesOf(computing), flags: []string{"-run", pattern(computing)}})
	}
	return slices.DeleteFunc(all, func(j job) bool { return len(j.packages) == 0 }), nil
}

// long lists the packages with the slowest tests, starting with the slowest package.
var long = []string{
	"github.com/toolrun/toolrun/host",
	"github.com/toolrun/toolrun/hostile",
	"github.com/toolrun/toolrun/host/engine/python",
	"github.com/toolrun/toolrun/host/server/httpapi",
	"github.com/toolrun/toolrun/cmd/toolrun",
	"github.com/toolrun/toolrun/host/storage/bolt",
	"github.com/toolrun/toolrun/plugins/examples",
	"github.com/toolrun/toolrun/docs",
	"github.com/toolrun/toolrun/host/memory",
	"github.com/toolrun/toolrun/host/sandbox",
}

// schedule orders jobs to keep all processors busy until the end. A long job therefore must not
// start last. The first job contains the packages of the main module that run with the race
// detector, without the long packages, and takes the most time. The long packages, each as a
// separate job, the other packages of the main module, and the other modules follow.
func schedule(all []job) []job {
	var main, separate, others []job
	for _, j := range all {
		rest := j
		rest.packages = nil
		for _, pkg := range j.packages {
			if !slices.Contains(long, pkg) {
				rest.packages = append(rest.packages, pkg)
				continue
			}
			one := j
			one.packages = []string{pkg}
			separate = append(separate, one)
		}
		switch {
		case len(rest.packages) == 0:
		case j.folder == ".":
			main = append(main, rest)
		default:
			others = append(others, rest)
		}
	}
	slices.SortFunc(separate, func(a, b job) int {
		return slices.Index(long, a.packages[0]) - slices.Index(long, b.packages[0])
	})
	first := min(1, len(main))
	return slices.Concat(main[:first], separate, main[first:], others)
}

// compile compiles the packages of a job without linking them. Without a separate compilation,
// concurrent jobs would compile the same packages. The command go test reports compile errors.
func (j job) compile() {
	args := []string{"list", "-e", "-export", "-test"}
	if j.raced {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, j.packages...)...)
	cmd.Dir = j.folder
	_ = cmd.Run()
}

// command returns the go test command of a job, which uses half of the processors.
func (j job) command() *exec.Cmd {
	args := []string{"test", "-json", "-timeout", "9m", "-p", strconv.Itoa(max(1, runtime.NumCPU()/2))}
	cmd := exec.Command("go", slices.Concat(args, j.flags, j.packages)...)
	cmd.Dir, cmd.Stderr = j.folder, os.Stderr
	// By default, the race detector delays the exit of each process by a second. Each package is a
	// process, and some tests start many processes.
	cmd.Env = append(os.Environ(), "GORACE="+strings.TrimSpace("atexit_sleep_ms=0 "+os.Getenv("GORACE")))
	return cmd
}

// runAll runs jobs in order. There is one concurrent job more than processors, because many tests
// wait for timers, disks and other processes.
func (s *summary) runAll(all []job) error {
	next := make(chan job, len(all))
	for _, j := range all {
		next <- j
	}
	close(next)
	errs := make([]error, 1+max(2, runtime.NumCPU()))
	var lanes sync.WaitGroup
	for i := range errs {
		lanes.Go(func() {
			for j := range next {
				errs[i] = errors.Join(errs[i], s.run(j))
			}
		})
	}
	lanes.Wait()
	return errors.Join(errs...)
}
