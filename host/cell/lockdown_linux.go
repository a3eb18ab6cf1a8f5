package cell

import (
	"errors"
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// maxDescriptors is how many files, pipes and memories a cell may have open.
const maxDescriptors = 256

// lockDown takes from this process, for ever, what running a guest does not need. It is called before the process
// has read a byte of a guest's. What the system does not have is left out, and said.
func lockDown(h hello, wanted func(string) bool) []Layer {
	var done []Layer
	add := func(name string, detail string, apply func() (string, error)) {
		if !wanted(name) {
			done = append(done, newLayer(name, errLeftOut, ""))
			return
		}
		more, err := apply()
		done = append(done, newLayer(name, err, detail+more))
	}
	add(LayerPrivileges, "no program that is executed gives privileges", setNoNewPrivileges)
	add(LayerLimits, fmt.Sprintf("%d descriptors, no core dumps, first to go when the system runs out of memory", maxDescriptors), setLimits)
	add(LayerLandlock, "no files, but compiled code where that is kept", func() (string, error) { return restrictFiles(h) })
	// Where there is no Landlock, files are opened by cells alone that see nothing of a guest's.
	mayOpen := h.purpose == toMake || h.outfit.folder != "" && wanted(LayerLandlock) && done[len(done)-1].On
	add(LayerSeccomp, "no system calls but those that running a guest takes", func() (string, error) { return "", filterCalls(mayOpen, h.purpose != toRun) })
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

func setLimits() (string, error) {
	// A process that cannot be dumped can neither be traced, nor be read through /proc, by others of its user.
	errs := []error{unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)}
	for resource, limit := range map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: maxDescriptors} {
		errs = append(errs, unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit}))
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // where there is no such thing, there is none
	if err := errors.Join(errs...); err != nil {
		return "", fmt.Errorf("set limits: %w", err)
	}
	return "", nil
}

// restrictFiles denies all files but those of the folder, and where the kernel can TCP, abstract sockets and signals
// to others. See landlock(7).
func restrictFiles(h hello) (string, error) {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return "", fmt.Errorf("the kernel has no Landlock: %w", err)
	}
	var rules []landlock.Rule
	switch {
	case h.purpose != toRun:
		rules = append(rules, landlock.RWDirs(h.outfit.folder))
	case h.outfit.folder != "":
		rules = append(rules, landlock.RODirs(h.outfit.folder))
	}
	if len(h.files) > 0 {
		rules = append(rules, landlock.ROFiles(h.files...))
	}
	detail := fmt.Sprintf(" (ABI %d)", abi)
	if err := landlock.V7.BestEffort().Restrict(rules...); err == nil {
		return detail, nil
	}
	// What it was to read is gone, or not for this user. Engines do without it; Landlock is not to.
	if err := landlock.V7.BestEffort().Restrict(); err != nil {
		return "", err
	}
	return detail + ", and compiled code cannot be read", nil
}

// dropWhenFull has writes to a full pipe fail instead of waiting for a reader.
func dropWhenFull(f *os.File) { _ = unix.SetNonblock(int(f.Fd()), true) }
