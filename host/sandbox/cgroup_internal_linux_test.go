package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mounted contains the text of a /proc/self/mountinfo file.
const mounted = `30 24 0:26 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755
31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
32 30 0:28 /inner /sys/fs/cgroup/pids\040here rw shared:9 - cgroup cgroup rw,pids
33 30 0:29 / /nowhere/unified rw - cgroup2 cgroup2 rw
`

func TestFindGroups(t *testing.T) {
	g, err := findGroups(mounted, "8:pids:/inner/service\n4:memory:/a/b\n0::/\n")
	want := []string{"/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/pids here/service"}
	if err != nil || g.version != 1 || !slices.Equal(g.folders, want) {
		t.Errorf("findGroups = %+v, %v; want version 1 in %q", g, err, want)
	}
	if g, err := findGroups(mounted, "8:pids:/elsewhere\n4:memory:/a/b\n0::/\n"); err == nil {
		t.Errorf("findGroups of a group that is not mounted = %+v; want an error", g)
	}
	dir := t.TempDir()
	lay(t, filepath.Join(dir, "service"), map[string]string{"cgroup.controllers": "cpu memory pids\n"})
	g, err = findGroups(fmt.Sprintf("33 30 0:29 / %s rw - cgroup2 cgroup2 rw\n", dir), "0::/service\n")
	if err != nil || g.version != 2 || !slices.Equal(g.folders, []string{filepath.Join(dir, "service")}) {
		t.Errorf("findGroups = %+v, %v; want version 2", g, err)
	}
}

func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDelegate checks that a process moves itself to a subgroup. The process must be the only
// process in its group. If the group contains other processes, delegate must fail and must not move
// any process.
func TestDelegate(t *testing.T) {
	read := func(name string) string { text, _ := os.ReadFile(name); return string(text) }
	dir, self := t.TempDir(), fmt.Sprint(os.Getpid())
	lay(t, dir, map[string]string{"cgroup.procs": self + "\n", "cgroup.subtree_control": ""})
	if err := os.Mkdir(filepath.Join(dir, hostGroup), 0o700); err != nil {
		t.Fatal(err)
	}
	lay(t, filepath.Join(dir, hostGroup), map[string]string{"cgroup.procs": ""})
	if err := (&groups{version: 2, folders: []string{dir}}).delegate(); err != nil {
		t.Fatal(err)
	}
	if moved, delegated := read(filepath.Join(dir, hostGroup, "cgroup.procs")), read(filepath.Join(dir, "cgroup.subtree_control")); moved != self || delegated != "+memory +pids" {
		t.Errorf("moved %q, delegated %q", moved, delegated)
	}
	lay(t, dir, map[string]string{"cgroup.procs": "1\n" + self + "\n"})
	if err := (&groups{version: 2, folders: []string{dir}}).delegate(); err == nil || !strings.Contains(err.Error(), "other processes") {
		t.Errorf("delegate in a group with another process = %v; want an error", err)
	}
	lay(t, dir, map[string]string{"cgroup.procs": ""})
	subgroup := &groups{version: 2, folders: []string{filepath.Join(dir, hostGroup)}}
	if err := subgroup.delegate(); err != nil || subgroup.folders[0] != dir {
		t.Errorf("delegate from the subgroup = %v, %q; want %q", err, subgroup.folders, dir)
	}
}

// TestSweepGroups checks that the groups of exited processes are removed. Other groups must remain.
func TestSweepGroups(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Skipf("cannot run the command true: %v", err)
	}
	dir := t.TempDir()
	removed, stays := fmt.Sprintf("%s%d-1", groupPrefix, ended.Process.Pid), []string{fmt.Sprintf("%s%d-1", groupPrefix, os.Getpid()), hostGroup, "other"}
	for _, name := range append(slices.Clone(stays), removed) {
		lay(t, filepath.Join(dir, name), nil)
	}
	(&groups{folders: []string{dir}}).sweep()
	if _, err := os.Stat(filepath.Join(dir, removed)); err == nil {
		t.Errorf("%s was not removed", removed)
	}
	for _, name := range stays {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestGroup raises and lowers the memory limit of a group. Then it removes the group twice.
func TestGroup(t *testing.T) {
	all, err := newGroups()
	if err != nil {
		t.Skipf("this machine has no control groups: %v", err)
	}
	g, err := all.newGroup()
	if err != nil {
		t.Fatal(err)
	}
	folders := slices.Clone(g.folders)
	for _, limit := range []uint64{64 << 20, 256 << 20, 32 << 20} {
		if err := g.limit(limit); err != nil {
			t.Errorf("limit of %d: %v", limit, err)
		}
		text, err := os.ReadFile(g.limitFiles[0].Name())
		if got := strings.TrimSpace(string(text)); err != nil || got != fmt.Sprint(limit) {
			t.Errorf("limit = %s, %v; want %d", got, err, limit)
		}
	}
	g.remove()
	g.remove()
	for _, folder := range folders {
		if _, err := os.Stat(folder); err == nil {
			t.Errorf("%s was not removed", folder)
		}
	}
}
