//go:build linux && (amd64 || arm64)

package native

import (
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolrun/toolrun/host/sandbox"
)

// Attack is an attempt of native code to escape from a worker. If all isolation layers are enabled,
// each attack must be blocked.
type Attack struct {
	Name      string
	Mechanism string // a description of what the attack does, and why the attack is dangerous
	compiled  bool   // true if the attack runs in workers of the engine "compiled"
	run       func(victims) error
	load      func(dir string) error // called when a source is compiled
	planted   string                 // the file that the attack tries to create
}

// Attacks returns all attacks, sorted by name.
func Attacks() []Attack {
	all := slices.Concat(threadAttacks, signalAttacks, memoryAttacks, fileAttacks, diskAttacks, processAttacks, kernelAttacks, socketAttacks())
	slices.SortFunc(all, func(a, b Attack) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return all
}

func find(name string) *Attack {
	for _, a := range Attacks() {
		if a.Name == name {
			return &a
		}
	}
	return nil
}

// reach makes a system call with arguments that are wrong on purpose. If the kernel executes the
// call, or rejects only the arguments, the result is nil, because a real attacker would use valid
// arguments. If the kernel blocks the call, the result is an error.
func reach(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := syscall.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	switch errno {
	case 0, unix.EINVAL, unix.EFAULT, unix.EBADF, unix.ENODEV, unix.ENOENT, unix.E2BIG, unix.EEXIST, unix.EAGAIN, unix.ENODATA, unix.EOPNOTSUPP:
		return nil
	}
	return errno
}

// call returns an attack that consists of one system call.
func call(name, mechanism string, number uintptr, args ...uintptr) Attack {
	return Attack{Name: name, Mechanism: mechanism, run: func(victims) error { return reach(number, args...) }}
}

// invalid is a number that is not a valid descriptor, process ID or address.
const invalid = ^uintptr(0)

// Missing returns the layers that this machine lacks.
func Missing() (names []string, err error) {
	pool, err := sandbox.New(sandbox.Options{Languages: Languages(), Spares: -1})
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	report, err := pool.Report()
	for _, l := range report.Layers {
		if !l.On {
			names = append(names, l.Name)
		}
	}
	return names, err
}

// Needs reports whether only one layer blocks an attack and this machine lacks the layer. The
// attack would then succeed.
func Needs(name string, missing []string) bool {
	layer, ok := onlyBlockedBy[name]
	return ok && slices.Contains(missing, layer)
}

// onlyBlockedBy maps each attack that is blocked by only one layer to that layer.
var onlyBlockedBy = map[string]string{
	"memory/files_of_an_engine": sandbox.LayerCgroup,
}
