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

// controllers contains the cgroup controllers that limit the resources of a worker.
var controllers = []string{"memory", "pids"}

// hostGroup is the name of the group to which this process moves itself. In version 2, a group that
// has subgroups cannot contain a process.
const hostGroup = groupPrefix + "host"

// findGroups finds the group of this process from the contents of /proc/self/mountinfo and
// /proc/self/cgroup.
func findGroups(mounts, own string) (*groups, error) {
	paths := ownGroups(own)
	found := map[string]string{} // the folders by controller; the key is "" in version 2
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
			return nil, fmt.Errorf("the control group of this process lacks the controller %q", name)
		}
		g.folders = append(g.folders, found[name])
	}
	return g, nil
}

// ownGroups returns the groups of a process by controller. In cgroup version 2, the only key is "".
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

// relativeTo returns a path relative to the root of a mount.
func relativeTo(root, path string) (string, bool) {
	if path == "" || strings.HasPrefix(path, "/..") { // in another namespace
		return "", false
	}
	rest, err := filepath.Rel(root, path)
	return rest, err == nil && rest != ".." && !strings.HasPrefix(rest, "../")
}

// unescape decodes the kernel's escapes in folder names.
func unescape(name string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`).Replace(name)
}

// hasControllers reports whether a version 2 group has all required controllers.
func hasControllers(folder string) bool {
	text, _ := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
	have := strings.Fields(string(text))
	return !slices.ContainsFunc(controllers, func(name string) bool { return !slices.Contains(have, name) })
}

// delegate prepares the group of this process for subgroups. delegate moves this process, which
// must be the only process in the group, to a subgroup.
func (g *groups) delegate() error {
	folder := g.folders[0]
	if filepath.Base(folder) == hostGroup { // systemd or an earlier process created the group
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
		return errors.New("the control group of this process contains other processes; start this process in a separate one, for example with systemd-run --scope -p Delegate=yes")
	case len(members) == 1:
		leaf := filepath.Join(folder, hostGroup)
		if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("the control group of this process is not delegated: %w", err)
		}
		if err := os.WriteFile(filepath.Join(leaf, "cgroup.procs"), []byte(self), 0); err != nil {
			return fmt.Errorf("the control group of this process is not delegated: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "cgroup.subtree_control"), []byte("+memory +pids"), 0); err != nil {
		return fmt.Errorf("the control group of this process is not delegated: %w", err)
	}
	return nil
}
