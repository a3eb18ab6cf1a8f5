package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of its orphaned descendants, so that it can find the
// descendants.
func (p *processes) adopt() error {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// resident returns the current resident memory and the peak resident memory of a process, in bytes.
// If the process has exited, the results are 0. See proc_pid_status(5).
func resident(pid int) (now, highest int64) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, 0
	}
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.ParseInt(string(fields[1]), 10, 64) // the value is 0 if the text is not a number
		switch string(fields[0]) {
		case "VmRSS:":
			now = kib << 10
		case "VmHWM:":
			highest = kib << 10
		}
	}
	return now, highest
}

// orphans returns the children that this process has adopted but not started. orphans also reaps
// adopted children that have exited.
func orphans(known map[int]bool) (left []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // Glob fails only for a malformed pattern
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue
		}
		// The file contains the following fields: pid (name) state parent. The name of a process
		// can contain any character. See proc_pid_stat(5).
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if parent, _ := strconv.Atoi(string(fields[1])); parent != os.Getpid() || known[pid] {
			continue
		}
		if string(fields[0]) == "Z" {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
			continue
		}
		left = append(left, pid)
	}
	return left
}

func kill(pid int) { _ = unix.Kill(pid, unix.SIGKILL) }

func makePipe(name string) error { return unix.Mkfifo(name, 0o600) }
