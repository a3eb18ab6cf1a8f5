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

// The variable controllers contains the names of the cgroup controllers that limit the resources of
// a worker.
var controllers = []string{"memory", "pids"}

// hostGroup is the name of the subgroup to which this process moves itself. The move is necessary
// because in version 2, a group with subgroups cannot contain processes.
const hostGroup = groupPrefix + "host"

// findGroups finds the group of this process. The arguments of findGroups are the contents of
// /proc/self/mountinfo and /proc/self/cgroup.
func findGroups(mounts, own string) (*groups, error) {
	paths := ownGroups(own)
	found := map[string]string{} // the folder of each controller; in version 2, the only key is ""
	for line := range strings.Lines(mounts) {
		// format of proc_pid_mountinfo(5): id parent device root folder options optional... - type
		// source superoptions
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

// ownGroups returns the groups of a process. The key of the result is the controller. In cgroup
// version 2, the result has only the key "".
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

// relativeTo removes the root of a mount from the beginning of a path.
func relativeTo(root, path string) (string, bool) {
	if path == "" || strings.HasPrefix(path, "/..") { // in another namespace
		return "", false
	}
	rest, err := filepath.Rel(root, path)
	return rest, err == nil && rest != ".." && !strings.HasPrefix(rest, "../")
}

// unescape decodes the escapes that the kernel uses in folder names.
func unescape(name string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`).Replace(name)
}

// hasControllers reports whether a group of version 2 has all required controllers.
func hasControllers(folder string) bool {
	text, _ := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
	have := strings.Fields(string(text))
	return !slices.ContainsFunc(controllers, func(name string) bool { return !slices.Contains(have, name) })
}

// delegate prepares the group of this process for subgroups. delegate moves this process to a
// subgroup. This process must be the only process in the group.
func (g *groups) delegate() error {
	folder := g.folders[0]
	if filepath.Base(folder) == hostGroup { // the group exists already
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
