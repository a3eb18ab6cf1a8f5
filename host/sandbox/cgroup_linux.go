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

// groups creates a control group for each worker. The new groups are below the group of this
// process, so the limits of this process's group also apply to the workers; see cgroups(7). groups
// is safe for concurrent use.
type groups struct {
	folders []string // the parents of new groups: one in version 2, one for each controller in version 1
	version int
}

// groupPrefix is the prefix of group names, which is followed by the process ID and a number.
const groupPrefix = "toolrun-"

var groupNumber atomic.Uint64

// newGroups detects whether control groups are available, and removes the groups of killed
// processes. newGroups runs once for all pools of this process.
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
	probe, err := g.newGroup() // newGroup fails if the folders are read-only or belong to another user
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

// sweep removes the groups of processes that have exited. The kernel does not remove a group that
// contains a process.
func (g *groups) sweep() {
	for _, parent := range g.folders {
		left, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*-*")) // Glob fails only for a malformed pattern
		for _, folder := range left {
			pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), groupPrefix), "-")
			if n, err := strconv.Atoi(pid); err == nil && unix.Kill(n, 0) == unix.ESRCH {
				_ = os.Remove(folder)
			}
		}
	}
}

// group is the control group of a worker. All methods accept a nil group, which has no limits.
type group struct {
	version    int
	folders    []string
	folder     int        // the descriptor of the folder in version 2, or -1
	limitFiles []*os.File // the files of the memory limits; the file of the limit that includes swap is last
}

// The method "open" writes the limits that never change and opens the files of the other limits.
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
		if err := g.write(name, value); err != nil && !errors.Is(err, fs.ErrNotExist) { // some exist only with swap
			return err
		}
	}
	for i, name := range limitFiles {
		file, err := os.OpenFile(filepath.Join(g.folders[0], name), os.O_WRONLY, 0)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue // the kernel does not count swap
		}
		if err != nil {
			return err
		}
		g.limitFiles = append(g.limitFiles, file)
	}
	return nil
}

// The method "write" writes a limit to a file of the group. In version 1, the file is in the folder
// of the controller in the file's name.
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

// descriptor returns the descriptor of the group in which to start a process.
func (g *group) descriptor() (use bool, folder int) {
	if g == nil || g.version != 2 {
		return false, 0
	}
	return true, g.folder
}

// The method "add" moves a process into the group unless the process was started in the group.
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

// The method "limit" sets the memory limit of the group in bytes. If the group exceeds the limit,
// the kernel kills the worker.
func (g *group) limit(bytes uint64) error {
	if g == nil {
		return nil
	}
	value := []byte(strconv.FormatUint(bytes, 10))
	// The limit without swap must never exceed the limit with swap. The limit with swap is
	// therefore written first if the limits are raised, and last if the limits are lowered.
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
	if err := errors.Join(errs...); !errors.Is(err, unix.EBUSY) { // version 1 cannot lower a limit below the current use
		return fmt.Errorf("set memory limit of control group: %w", err)
	}
	return nil
}

// The method "remove" kills the remaining processes in the group and removes the group. The worker
// process of the group must have exited.
func (g *group) remove() {
	if g == nil {
		return
	}
	closeAll(g.limitFiles)
	closeRoot(g.folder)
	folders := g.folders
	g.limitFiles, g.folders, g.folder = nil, nil, -1 // an empty list allows repeated calls to remove
	for _, folder := range folders {
		for range 100 {
			err := os.Remove(folder)
			if !errors.Is(err, unix.EBUSY) {
				break
			}
			killGroup(folder) // the group contains a child process that a guest left behind
			time.Sleep(time.Millisecond)
		}
	}
}

// killGroup kills the processes of a group.
func killGroup(folder string) {
	text, _ := os.ReadFile(filepath.Join(folder, "cgroup.procs"))
	for pid := range bytes.FieldsSeq(text) {
		if n, err := strconv.Atoi(string(pid)); err == nil && n > 0 {
			_ = unix.Kill(n, syscall.SIGKILL)
		}
	}
}

// detail returns the description of the group for a report.
func (g *group) detail() string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf(" (version %d)", g.version)
}
