//go:build !linux

package sandbox

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// Elsewhere a cell is a process that is killed at its deadline, and nothing more.

func attributes(setting, []string, *int) *syscall.SysProcAttr { return nil }

func notAllowed(error) bool { return false }

// self is the program that is running.
func self() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}

func brokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

func wasKilled(*os.ProcessState) bool { return false }

func blockingPipe() (r, w *os.File, err error) { return os.Pipe() }

func cpuTime(int) time.Duration { return 0 }

func (c *process) limit(int64) error { return nil }

func (c *process) measure() {}

func (c *process) overData() bool { return false }

func (c *process) threads() int { return 0 }

const maxThreads = 0

// groups are control groups, which only Linux has.
type groups struct{}

func newGroups() (*groups, error) { return nil, errElsewhere }

func (*groups) make() (*group, error) { return nil, errElsewhere }

type group struct{}

func (*group) add(int) error { return nil }
func (*group) remove()       {}

func dropWhenFull(*os.File) {}

var errElsewhere = errors.New("on Linux only")

// parentLayers are what the parent does for the wall of a new cell.
func parentLayers(*process, setting) []Layer {
	own := []Layer{newLayer(LayerProcess, nil, "a guest runs in a process of its own, which is killed when its time is over")}
	for _, name := range []string{LayerDeath, LayerNamespaces, LayerMemory, LayerCPU, LayerCgroup} {
		own = append(own, newLayer(name, errElsewhere, ""))
	}
	return own
}

func lockDown(hello, func(string) bool) []Layer {
	var none []Layer
	for _, name := range []string{LayerPrivileges, LayerLimits, LayerLandlock, LayerChroot, LayerSeccomp} {
		none = append(none, newLayer(name, errElsewhere, ""))
	}
	return none
}
