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

// lockDown takes from this process, for ever, what running a guest does not need. It is called before the process
// has read a byte of a guest's. What the system does not have is left out, and said.
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
	add(LayerPrivileges, "no program that is executed gives privileges", setNoNewPrivileges)
	add(LayerLimits, limitsDetail(), func() (string, error) { return "", setLimits(h) })
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	root, rootErr := openRoot(h) // while /proc and the folder can be reached
	add(LayerLandlock, "no files, but compiled code where that is kept", func() (string, error) { return restrictFiles(h) })
	landlocked := done[len(done)-1].On
	add(LayerChroot, "no names, sizes or times of files, but of compiled code where that is kept", func() (string, error) {
		return "", errors.Join(rootErr, changeRoot(root))
	})
	closeRoot(root)
	rooted := done[len(done)-1].On
	if wanted(LayerLimits) { // not before: what changes the root looks at this process's part of /proc
		if err := disableDumps(); err != nil {
			add(LayerLimits, "", func() (string, error) { return "", err })
			done = slices.DeleteFunc(done, func(l Layer) bool { return l.Name == LayerLimits && l.On })
		}
	}
	add(LayerSeccomp, "no system calls but those that running a guest takes", func() (string, error) {
		return "", installFilter(permissions{
			// Where nothing else confines files, only workers that see nothing of a guest's open them.
			open: h.job == jobPrepare || h.mounts.folder != "" && (landlocked || rooted), write: h.job != jobRun,
			memoryFiles: h.mounts.memoryFiles,
		})
	})
	return done
}

// setNoNewPrivileges makes sure that executing a program never gains anything; see PR_SET_NO_NEW_PRIVS in prctl(2).
// That it holds for all threads, those that run already too, follows from the filter's SECCOMP_FILTER_FLAG_TSYNC, or
// from Landlock's own way to all threads.
func setNoNewPrivileges() (string, error) {
	if err := ll.AllThreadsPrctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return "", fmt.Errorf("PR_SET_NO_NEW_PRIVS: %w", err)
	}
	return "", nil
}

// restrictFiles denies all files but those of the folder, and where the kernel can TCP, abstract sockets and signals
// to others. See landlock(7).
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
	// What it was to read is gone, or not for this user. Engines do without it; Landlock is not to.
	if err := landlock.V7.BestEffort().Restrict(); err != nil {
		return "", err
	}
	return detail + ", and compiled code cannot be read", nil
}

// landlockScopes names what a version of Landlock restricts beside files; see landlock(7), "VERSIONS".
func landlockScopes(abi int) string {
	held, missing := []string{"files"}, []string(nil)
	for _, scope := range []struct {
		name  string
		since int
	}{{"TCP", 4}, {"devices", 5}, {"abstract sockets", 6}, {"signals", 6}} {
		if abi >= scope.since {
			held = append(held, scope.name)
		} else {
			missing = append(missing, scope.name)
		}
	}
	if missing == nil {
		return strings.Join(held, ", ")
	}
	return strings.Join(held, ", ") + "; not " + strings.Join(missing, ", ")
}

// dropWhenFull has writes to a full pipe fail instead of waiting for a reader.
func dropWhenFull(f *os.File) { _ = unix.SetNonblock(int(f.Fd()), true) }
