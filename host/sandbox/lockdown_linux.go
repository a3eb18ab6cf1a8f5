package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// lockDown removes rights from this process. After lockDown, the process permanently has only the
// rights that a guest needs. Call lockDown before the process reads data from a guest. lockDown
// returns the state of each layer.
func lockDown(h handshake, wanted func(string) bool) []Layer {
	var done []Layer
	add := func(name string, detail string, apply func() (string, error)) {
		if !wanted(name) {
			done = append(done, newLayer(name, errDisabled, ""))
			return
		}
		more, err := apply()
		done = append(done, newLayer(name, err, detail+more))
	}
	add(LayerPrivileges, "no additional privileges from executed programs", setNoNewPrivileges)
	add(LayerLimits, limitsDetail(), func() (string, error) { return "", setLimits(h) })
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	root, rootErr := openRoot(h) // after the lockdown, /proc and the folder cannot be reached
	add(LayerLandlock, "no files except its own compiled code", func() (string, error) { return restrictFiles(h) })
	landlocked := done[len(done)-1].On
	add(LayerChroot, "no names, sizes or times of files except its own compiled code", func() (string, error) {
		return "", errors.Join(rootErr, changeRoot(root))
	})
	closeRoot(root)
	rooted := done[len(done)-1].On
	if wanted(LayerLimits) { // after changeRoot, which must read /proc/self
		if err := disableDumps(); err != nil {
			add(LayerLimits, "", func() (string, error) { return "", err })
			done = slices.DeleteFunc(done, func(l Layer) bool { return l.Name == LayerLimits && l.On })
		}
	}
	add(LayerSeccomp, "only the system calls that guests require", func() (string, error) {
		return "", installFilter(permissions{
			// If no other layer restricts files, a worker can open files only if it never runs a
			// guest.
			open: h.job == jobPrepare || h.mounts.folder != "" && (landlocked || rooted), write: h.job != jobRun,
			memoryFiles: h.mounts.memoryFiles,
		})
	})
	return done
}

// setNoNewPrivileges sets the attribute no_new_privs for all threads. A program that this process
// executes then cannot gain privileges; see PR_SET_NO_NEW_PRIVS in prctl(2).
func setNoNewPrivileges() (string, error) {
	if err := ll.AllThreadsPrctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return "", fmt.Errorf("PR_SET_NO_NEW_PRIVS: %w", err)
	}
	return "", nil
}

// restrictFiles denies access to files. Only files in the worker's folder remain accessible. If the
// kernel has a recent version of Landlock, restrictFiles also denies TCP, abstract sockets and
// signals to other processes. See landlock(7).
func restrictFiles(h handshake) (string, error) {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return "", fmt.Errorf("the kernel has no Landlock: %w", err)
	}
	var rules []landlock.Rule
	switch {
	case h.job != jobRun:
		rules = append(rules, landlock.RWDirs(h.mounts.folder))
	case h.mounts.folder != "":
		rules = append(rules, landlock.RODirs(h.mounts.folder))
	}
	detail := fmt.Sprintf(" (ABI %d: %s)", abi, landlockScopes(abi))
	if err := landlock.V7.BestEffort().Restrict(rules...); err == nil {
		return detail, nil
	}
	// The folder does not exist, or this user cannot read it. Engines work without the folder, but
	// Landlock must nevertheless be on.
	if err := landlock.V7.BestEffort().Restrict(); err != nil {
		return "", err
	}
	return detail + "; compiled code cannot be read", nil
}

// landlockScopes describes which actions a version of Landlock can restrict; see "VERSIONS" in
// landlock(7).
func landlockScopes(abi int) string {
	supported, missing := []string{"files"}, []string(nil)
	for _, scope := range []struct {
		name  string
		since int
	}{{"TCP", 4}, {"devices", 5}, {"abstract sockets", 6}, {"signals", 6}} {
		if abi >= scope.since {
			supported = append(supported, scope.name)
		} else {
			missing = append(missing, scope.name)
		}
	}
	if missing == nil {
		return strings.Join(supported, ", ")
	}
	return strings.Join(supported, ", ") + "; not " + strings.Join(missing, ", ")
}

// dropWhenFull makes writes to a pipe fail while the pipe is full. Without dropWhenFull, such a
// write blocks.
func dropWhenFull(f *os.File) { _ = unix.SetNonblock(int(f.Fd()), true) }
