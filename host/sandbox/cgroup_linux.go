package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// groups creates a control group for each worker. The new groups are subgroups of the group of this
// process. Therefore the limits of this group also apply to the workers; see cgroups(7). The type
// is safe for concurrent use.
type groups struct {
	folders []string // parents of the new groups; in version 1, one for each controller
	version int
}

// groupPrefix is the beginning of each group name. The process ID and a number follow the prefix.
const groupPrefix = "toolrun-"

var groupNumber atomic.Uint64

// newGroups detects whether control groups are available. The function newGroups also removes the
// groups of killed processes. All pools of this process share one call of newGroups.
var newGroups = sync.OnceValues(func() (*groups, error) {
	mounts, err1 := os.ReadFile("/proc/self/mountinfo")
	own, err2 := os.ReadFile("/proc/self/cgroup")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	g, err := findGroups(string(mounts), string(own))
	if err != nil {
		return nil, err
	}
	if g.version == 2 {
		if err := g.delegate(); err != nil {
			return nil, err
		}
	}
	g.sweep()
	probe, err := g.newGroup() // fails if the folders are not writable
	if err != nil {
		return nil, fmt.Errorf("the control group of this process is not delegated: %w", err)
	}
	probe.remove()
	return g, nil
})

// newGroup creates a control group.
func (g *groups) newGroup() (*group, error) {
	made := &group{version: g.version, folder: -1}
	name := fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), groupNumber.Add(1))
	for _, parent := range g.folders {
		folder := filepath.Join(parent, name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			made.remove()
			return nil, err
		}
		made.folders = append(made.folders, folder)
	}
	if err := made.open(); err != nil {
		made.remove()
		return nil, err
	}
	return made, nil
}

// sweep removes groups whose processes have exited. If a group still contains a process, the kernel
// does not remove the group.
func (g *groups) sweep() {
	for _, parent := range g.folders {
		left, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*-*")) // the pattern is valid
		for _, folder := range left {
			pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), groupPrefix), "-")
			if n, err := strconv.Atoi(pid); err == nil && unix.Kill(n, 0) == unix.ESRCH {
				_ = os.Remove(folder)
			}
		}
	}
}

// group is the control group of a worker. All methods accept a nil group. A nil group has no
// limits.
type group struct {
	version    int
	folders    []string
	folder     int        // in version 2, the descriptor of the folder; otherwise -1
	limitFiles []*os.File // the files with the memory limits; the limit that includes swap is last
}

// open writes the limits that never change. open opens the files of all other limits.
func (g *group) open() error {
	limitFiles, fixed := []string{"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"}, map[string]string{}
	if g.version == 2 {
		var err error
		if g.folder, err = unix.Open(g.folders[0], unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			return err
		}
		limitFiles, fixed = []string{"memory.max"}, map[string]string{"memory.swap.max": "0", "memory.oom.group": "1"}
	}
	if err := g.write("pids.max", strconv.Itoa(maxThreads)); err != nil {
		return err
	}
	for name, value := range fixed {
		if err := g.write(name, value); err != nil && !errors.Is(err, fs.ErrNotExist) { // no swap
			return err
		}
	}
	for i, name := range limitFiles {
		file, err := os.OpenFile(filepath.Join(g.folders[0], name), os.O_WRONLY, 0)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue // the kernel does not count the use of swap
		}
		if err != nil {
			return err
		}
		g.limitFiles = append(g.limitFiles, file)
	}
	return nil
}

// write writes a limit to one file of the group. In version 1, each controller has a separate
// folder. The prefix of the file name identifies the controller.
func (g *group) write(name, value string) error {
	folder := g.folders[0]
	if strings.HasPrefix(name, "pids.") {
		folder = g.folders[len(g.folders)-1]
	}
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_WRONLY, 0) // the kernel has created the file
	if err != nil {
		return err
	}
	_, err = file.WriteString(value)
	return errors.Join(err, file.Close())
}

// descriptor returns the descriptor of the group. A new process can be started in this group.
func (g *group) descriptor() (use bool, folder int) {
	if g == nil || g.version != 2 {
		return false, 0
	}
	return true, g.folder
}

// add moves a process into the group. If the process was started in the group, the method does
// nothing.
func (g *group) add(pid int) error {
	if g == nil || g.version == 2 {
		return nil
	}
	for _, folder := range g.folders {
		file, err := os.OpenFile(filepath.Join(folder, "cgroup.procs"), os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = file.WriteString(strconv.Itoa(pid))
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// limit sets the memory limit of the group. The limit is a number of bytes. If the group exceeds
// the limit, the kernel kills the worker.
func (g *group) limit(bytes uint64) error {
	if g == nil {
		return nil
	}
	value := []byte(strconv.FormatUint(bytes, 10))
	// The group has two memory limits: one without swap, and one that includes swap. The limit
	// without swap must never be larger than the limit that includes swap. Therefore, the limit
	// that includes swap is the first limit to be raised and the last limit to be lowered.
	var errs []error
	for _, up := range []bool{true, false} {
		errs = errs[:0]
		for i := range g.limitFiles {
			if up {
				i = len(g.limitFiles) - 1 - i
			}
			if _, err := g.limitFiles[i].WriteAt(value, 0); err != nil {
				errs = append(errs, err)
			}
		}
		if len(errs) == 0 {
			return nil
		}
	}
	if err := errors.Join(errs...); !errors.Is(err, unix.EBUSY) { // v1: limit below current usage
		return fmt.Errorf("set memory limit of control group: %w", err)
	}
	return nil
}

// remove kills all processes that remain in the group. Then it removes the group. The worker
// process of the group must have exited before.
func (g *group) remove() {
	if g == nil {
		return
	}
	closeAll(g.limitFiles)
	closeRoot(g.folder)
	folders := g.folders
	g.limitFiles, g.folders, g.folder = nil, nil, -1 // allows repeated calls
	for _, folder := range folders {
		for range 100 {
			err := os.Remove(folder)
			if !errors.Is(err, unix.EBUSY) {
				break
			}
			killGroup(folder) // the group still contains a child process that a guest has started
			time.Sleep(time.Millisecond)
		}
	}
}

// killGroup kills all processes of a group.
func killGroup(folder string) {
	text, _ := os.ReadFile(filepath.Join(folder, "cgroup.procs"))
	for pid := range bytes.FieldsSeq(text) {
		if n, err := strconv.Atoi(string(pid)); err == nil && n > 0 {
			_ = unix.Kill(n, syscall.SIGKILL)
		}
	}
}

// detail returns a description of the group for a report.
func (g *group) detail() string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf(" (version %d)", g.version)
}
