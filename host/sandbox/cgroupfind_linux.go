package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// controllers are those that count what a worker has.
var controllers = []string{"memory", "pids"}

// hostGroup is the group that this process moves itself to: with version 2 a group that divides what it has holds no process.
const hostGroup = groupPrefix + "host"

// findGroups finds the group of this process, from what /proc/self/mountinfo and /proc/self/cgroup hold.
func findGroups(mounts, own string) (*groups, error) {
	paths := ownGroups(own)
	found := map[string]string{} // folders by their controller, "" for version 2
	for line := range strings.Lines(mounts) {
		// proc_pid_mountinfo(5): id parent device root folder options optional... - type source superoptions
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		fields, last := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(last) < 3 {
			continue
		}
		root, folder := fields[3], unescape(fields[4])
		switch last[0] {
		case "cgroup2":
			if path, ok := relativeTo(root, paths[""]); ok {
				found[""] = filepath.Join(folder, path)
			}
		case "cgroup":
			for _, name := range strings.Split(last[2], ",") {
				if path, ok := relativeTo(root, paths[name]); ok && slices.Contains(controllers, name) {
					found[name] = filepath.Join(folder, path)
				}
			}
		}
	}
	if folder := found[""]; folder != "" && hasControllers(folder) {
		return &groups{version: 2, folders: []string{folder}}, nil
	}
	g := &groups{version: 1}
	for _, name := range controllers {
		if found[name] == "" {
			return nil, fmt.Errorf("no control group of this process counts %s", name)
		}
		g.folders = append(g.folders, found[name])
	}
	return g, nil
}

// ownGroups are the groups of a process by controller, "" for version 2.
func ownGroups(text string) map[string]string {
	paths := map[string]string{}
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		for _, name := range strings.Split(fields[1], ",") {
			paths[name] = fields[2]
		}
	}
	return paths
}

// below is a path relative to the root of a mount.
func relativeTo(root, path string) (string, bool) {
	if path == "" || strings.HasPrefix(path, "/..") { // of another namespace
		return "", false
	}
	rest, err := filepath.Rel(root, path)
	return rest, err == nil && rest != ".." && !strings.HasPrefix(rest, "../")
}

// unescape undoes how the kernel writes spaces in names of folders.
func unescape(name string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`).Replace(name)
}

// hasControllers reports whether a group of version 2 may have what counts a worker.
func hasControllers(folder string) bool {
	text, _ := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
	have := strings.Fields(string(text))
	return !slices.ContainsFunc(controllers, func(name string) bool { return !slices.Contains(have, name) })
}

// delegate gets the group of this process ready to be divided: this process, which must be alone in it, moves to one below.
func (g *groups) delegate() error {
	folder := g.folders[0]
	if filepath.Base(folder) == hostGroup { // systemd's DelegateSubgroup, or an earlier program of this process
		folder = filepath.Dir(folder)
		g.folders[0] = folder
	}
	text, err := os.ReadFile(filepath.Join(folder, "cgroup.procs"))
	if err != nil {
		return err
	}
	self := strconv.Itoa(os.Getpid())
	switch members := strings.Fields(string(text)); {
	case len(members) > 1 || len(members) == 1 && members[0] != self:
		return errors.New("other processes are in the control group of this one; start it in one of its own, as systemd-run --scope -p Delegate=yes does")
	case len(members) == 1:
		leaf := filepath.Join(folder, hostGroup)
		if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("the control group of this process is not its own to divide: %w", err)
		}
		if err := os.WriteFile(filepath.Join(leaf, "cgroup.procs"), []byte(self), 0); err != nil {
			return fmt.Errorf("the control group of this process is not its own to divide: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "cgroup.subtree_control"), []byte("+memory +pids"), 0); err != nil {
		return fmt.Errorf("the control group of this process is not its own to divide: %w", err)
	}
	return nil
}
