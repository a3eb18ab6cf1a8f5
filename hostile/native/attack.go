//go:build linux && (amd64 || arm64)

package native

import (
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolrun/toolrun/host/sandbox"
)

// Attack is something that native code tries. All layers of the wall together hold it.
type Attack struct {
	Name      string
	Mechanism string // what it tries, and why that would be bad
	compiled  bool   // it is tried where there is compiled code
	run       func(victims) error
	load      func(dir string) error // instead, while a source is compiled; it writes to the folder
	planted   string                 // the file that it wants to leave in the folder of all compiled code
}

// Attacks returns all of them, in the order of their names.
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

// reach makes a system call. It returns no error where the kernel did it, or refused because of its arguments only, which
// are wrong on purpose: another guest would have right ones.
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

// call is an attack that is one system call.
func call(name, mechanism string, number uintptr, args ...uintptr) Attack {
	return Attack{Name: name, Mechanism: mechanism, run: func(victims) error { return reach(number, args...) }}
}

// none is a number that is no descriptor, no process and no address.
const none = ^uintptr(0)

// Missing returns the layers that this machine does not have.
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

// Needs reports whether an attack is held by one layer only, and that is among those that are missing.
func Needs(name string, missing []string) bool {
	layer, ok := onlyHeldBy[name]
	return ok && slices.Contains(missing, layer)
}

// onlyHeldBy are the attacks that one layer only holds, and which.
var onlyHeldBy = map[string]string{
	"memory/files_of_an_engine": sandbox.LayerCgroup,
}
