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
	file("stat", "size and times of a foreign file reveal what others do", func(p string) error { _, err := os.Lstat(p); return err }),
	file("statx", "the same by statx", func(p string) error {
		var s unix.Statx_t
		return unix.Statx(unix.AT_FDCWD, p, 0, unix.STATX_ALL, &s)
	}),
	file("access", "whether a foreign file is there", func(p string) error { return unix.Faccessat(unix.AT_FDCWD, p, unix.F_OK, 0) }),
	file("path_only", "a descriptor of a foreign file that is not opened", func(p string) error {
		_, err := unix.Open(p, unix.O_PATH, 0)
		return err
	}),
	file("missing", "whether a foreign file is missing", func(p string) error {
		_, there := os.Lstat(p)
		_, missing := os.Lstat(p + ".missing")
		if errors.Is(there, fs.ErrNotExist) == errors.Is(missing, fs.ErrNotExist) {
			return errBlocked
		}
		return nil
	}),
	file("open", "read a foreign file", func(p string) error { _, err := os.ReadFile(p); return err }),
	file("list", "the names of foreign files", func(p string) error { _, err := os.ReadDir(filepath.Dir(p)); return err }),
	file("write", "make a file", func(p string) error { return os.WriteFile(p+".new", []byte("x"), 0o600) }),
	file("remove", "remove a foreign file", os.Remove),
	file("rename", "rename a foreign file", func(p string) error { return os.Rename(p, p+".other") }),
	file("link", "a second name for a foreign file", func(p string) error { return os.Link(p, p+".link") }),
	file("symlink", "a link for others to follow", func(p string) error { return os.Symlink("/etc/passwd", p+".symlink") }),
	file("mode", "the mode of a foreign file", func(p string) error { return os.Chmod(p, 0o666) }),
	file("truncate", "empty a foreign file", func(p string) error { return os.Truncate(p, 0) }),
	file("space", "how full the disk is", func(p string) error { var s unix.Statfs_t; return unix.Statfs(filepath.Dir(p), &s) }),
	file("watch", "when a foreign file changes", func(p string) error {
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
	file("change_folder", "go to a foreign folder", func(p string) error { return os.Chdir(filepath.Dir(p)) }),
	file("parent_folders", "leave the root by the folders above it", func(p string) error {
		_, err := os.ReadFile(strings.Repeat("../", 30) + p)
		return err
	}),
	file("device", "make a device", func(p string) error { return unix.Mknod(p+".device", unix.S_IFCHR|0o600, 1<<8|5) }),
	{Name: "file/link_target", Mechanism: "the target of a link of the system", run: func(victims) error { _, err := os.Readlink("/proc/self"); return err }},
	{Name: "file/link_target_compiled", Mechanism: "the same where there is compiled code", compiled: true, run: func(victims) error {
		_, err := os.Readlink("/proc/self")
		return err
	}},
	{Name: "file/processes", Mechanism: "which processes there are", run: func(victims) error { _, err := os.ReadDir("/proc"); return err }},
}

// file returns an attack on a file that the guest must not access. The attack runs in workers with
// compiled code, because these workers can open files.
func file(name, mechanism string, act func(path string) error) Attack {
	return Attack{Name: "file/" + name, Mechanism: mechanism, compiled: true, run: func(v victims) error { return act(v.File) }}
}

var diskAttacks = []Attack{
	{Name: "disk/large_file", Mechanism: "a compiler fills the disk with one file", load: func(dir string) error {
		return fill(dir, 600, func(int) string { return "large" })
	}},
	{Name: "disk/many_files", Mechanism: "a compiler fills the disk with many", load: func(dir string) error {
		return fill(dir, 600, func(n int) string { return fmt.Sprint("file", n) })
	}},
	{Name: "disk/folders", Mechanism: "a compiler uses up the nodes of the disk", load: func(dir string) error {
		for n := range 5000 {
			if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint("folder", n)), 0o700); err != nil {
				return err
			}
		}
		return nil
	}},
	{Name: "disk/deep", Mechanism: "folders that are too deep to be removed", load: func(dir string) error {
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
	{Name: "disk/outside", Mechanism: "a compiler writes where others read", planted: "planted", load: func(dir string) error {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "..", "..", "..", "planted"), []byte("x"), 0o600)
	}},
	{Name: "disk/symlink", Mechanism: "a compiler leaves a link for the host to follow", load: func(dir string) error {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		return os.Symlink("/etc", filepath.Join(dir, "link"))
	}},
}

// fill appends a mebibyte to each of several files.
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
