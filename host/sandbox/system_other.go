//go:build !linux

package sandbox

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// On systems other than Linux, a worker is a process without further isolation. The process is
// killed at the deadline of its run.

func procAttributes(spawnConfig, []string, *int) *syscall.SysProcAttr { return nil }

func isDenied(error) bool { return false }

// self returns the path of the current program.
func self() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}

func brokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

func wasSIGKILLed(*os.ProcessState) bool { return false }

func blockingPipe() (r, w *os.File, err error) { return os.Pipe() }

func cpuTime(int) time.Duration { return 0 }

func (w *worker) limit(int64) error { return nil }

func (w *worker) measure() {}

func (w *worker) overMemoryLimit() bool { return false }

func (w *worker) threads() int { return 0 }

const maxThreads = 0

// groups creates control groups, which exist only on Linux.
type groups struct{}

func newGroups() (*groups, error) { return nil, errElsewhere }

func (*groups) newGroup() (*group, error) { return nil, errElsewhere }

type group struct{}

func (*group) add(int) error { return nil }
func (*group) remove()       {}

func dropWhenFull(*os.File) {}

var errElsewhere = errors.New("only available on Linux")

// parentLayers returns the layers that the parent applies to a new worker.
func parentLayers(*worker, spawnConfig) []Layer {
	own := []Layer{newLayer(LayerProcess, nil, "each guest runs in a separate process, killed at the deadline")}
	for _, name := range []string{LayerDeath, LayerNamespaces, LayerMemory, LayerCPU, LayerCgroup} {
		own = append(own, newLayer(name, errElsewhere, ""))
	}
	return own
}

func lockDown(handshake, func(string) bool) []Layer {
	var none []Layer
	for _, name := range []string{LayerPrivileges, LayerLimits, LayerLandlock, LayerChroot, LayerSeccomp} {
		none = append(none, newLayer(name, errElsewhere, ""))
	}
	return none
}
