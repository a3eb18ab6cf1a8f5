//go:build linux && (amd64 || arm64)

package native

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

var fileAttacks = []Attack{
	file("stat", "read size and times of a foreign file with stat", func(p string) error { _, err := os.Lstat(p); return err }),
	file("statx", "read size and times of a foreign file with statx", func(p string) error {
		var s unix.Statx_t
		return unix.Statx(unix.AT_FDCWD, p, 0, unix.STATX_ALL, &s)
	}),
	file("access", "check whether a foreign file exists", func(p string) error { return unix.Faccessat(unix.AT_FDCWD, p, unix.F_OK, 0) }),
	file("path_only", "open a foreign file with O_PATH", func(p string) error {
		_, err := unix.Open(p, unix.O_PATH, 0)
		return err
	}),
	file("missing", "distinguish a foreign file from a missing one", func(p string) error {
		_, there := os.Lstat(p)
		_, missing := os.Lstat(p + ".missing")
		if errors.Is(there, fs.ErrNotExist) == errors.Is(missing, fs.ErrNotExist) {
			return errBlocked
		}
		return nil
	}),
	file("open", "read a foreign file", func(p string) error { _, err := os.ReadFile(p); return err }),
	file("list", "list a foreign folder", func(p string) error { _, err := os.ReadDir(filepath.Dir(p)); return err }),
	file("write", "create a file", func(p string) error { return os.WriteFile(p+".new", []byte("x"), 0o600) }),
	file("remove", "remove a foreign file", os.Remove),
	file("rename", "rename a foreign file", func(p string) error { return os.Rename(p, p+".other") }),
	file("link", "create a hard link to a foreign file", func(p string) error { return os.Link(p, p+".link") }),
	file("symlink", "create a symbolic link", func(p string) error { return os.Symlink("/etc/passwd", p+".symlink") }),
	file("mode", "change the mode of a foreign file", func(p string) error { return os.Chmod(p, 0o666) }),
	file("truncate", "truncate a foreign file", func(p string) error { return os.Truncate(p, 0) }),
	file("space", "read the free space of the disk", func(p string) error { var s unix.Statfs_t; return unix.Statfs(filepath.Dir(p), &s) }),
	file("watch", "watch a foreign file with inotify", func(p string) error {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if err == nil {
			_, err = unix.InotifyAddWatch(fd, p, unix.IN_ALL_EVENTS)
		}
		return err
	}),
	file("handle", "open a foreign file by its handle", func(p string) error {
		handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, p, 0)
		if err != nil {
			return err
		}
		_, err = unix.OpenByHandleAt(unix.AT_FDCWD, handle, unix.O_RDONLY)
		return err
	}),
	file("change_folder", "change to a foreign folder", func(p string) error { return os.Chdir(filepath.Dir(p)) }),
	file("parent_folders", "leave the root through parent folders", func(p string) error {
		_, err := os.ReadFile(strings.Repeat("../", 30) + p)
		return err
	}),
	file("device", "create a device", func(p string) error { return unix.Mknod(p+".device", unix.S_IFCHR|0o600, 1<<8|5) }),
	{Name: "file/link_target", Mechanism: "read the target of a system link", run: func(victims) error { _, err := os.Readlink("/proc/self"); return err }},
	{Name: "file/link_target_compiled", Mechanism: "read the target of a system link, in a worker with compiled code", compiled: true, run: func(victims) error {
		_, err := os.Readlink("/proc/self")
		return err
	}},
	{Name: "file/processes", Mechanism: "list the processes", run: func(victims) error { _, err := os.ReadDir("/proc"); return err }},
}

// file returns an attack on a file that the guest must not access. The attack runs in workers of
// the engine "compiled", because workers of that engine can open files.
func file(name, mechanism string, act func(path string) error) Attack {
	return Attack{Name: "file/" + name, Mechanism: mechanism, compiled: true, run: func(v victims) error { return act(v.File) }}
}

var diskAttacks = []Attack{
	{Name: "disk/large_file", Mechanism: "fill the disk with one file during compilation", load: func(dir string) error {
		return fill(dir, 600, func(int) string { return "large" })
	}},
	{Name: "disk/many_files", Mechanism: "fill the disk with many files during compilation", load: func(dir string) error {
		return fill(dir, 600, func(n int) string { return fmt.Sprint("file", n) })
	}},
	{Name: "disk/folders", Mechanism: "exhaust the inodes of the disk during compilation", load: func(dir string) error {
		for n := range 5000 {
			if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint("folder", n)), 0o700); err != nil {
				return err
			}
		}
		return nil
	}},
	{Name: "disk/deep", Mechanism: "create folders that are too deep to remove", load: func(dir string) error {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		for range 200 {
			dir = filepath.Join(dir, strings.Repeat("x", 15))
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
		}
		return nil
	}},
	{Name: "disk/outside", Mechanism: "write to the folder of another language during compilation", planted: "planted", load: func(dir string) error {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "..", "..", "..", "planted"), []byte("x"), 0o600)
	}},
	{Name: "disk/symlink", Mechanism: "leave a symbolic link that the host could follow", load: func(dir string) error {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		return os.Symlink("/etc", filepath.Join(dir, "link"))
	}},
}

// fill appends one MiB to each of several files.
func fill(dir string, times int, name func(int) string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	block := make([]byte, 1<<20)
	for n := range times {
		f, err := os.OpenFile(filepath.Join(dir, name(n)), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(block)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
