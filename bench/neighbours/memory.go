package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"
)

var anonymous = regexp.MustCompile(`RssAnon:\s+(\d+) kB`)

// memory returns the memory of the service's own process in MiB. The result includes neither the
// memory of workers nor file pages that the kernel can reclaim. If the memory is unknown or the
// service has ended, the result is 0.
func (s *service) memory() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid)) // only on Linux
	found := anonymous.FindSubmatch(text)
	if found == nil {
		return 0
	}
	kib, _ := strconv.ParseFloat(string(found[1]), 64) // digits
	return kib / 1024
}

// watch measures the memory repeatedly until the returned function is called. The returned function
// returns the maximum of the measured values.
func (s *service) watch() (peak func() float64) {
	stop, most := make(chan struct{}), make(chan float64)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		seen := s.memory()
		for {
			select {
			case <-tick.C:
				seen = max(seen, s.memory())
			case <-stop:
				most <- max(seen, s.memory())
				return
			}
		}
	}()
	return func() float64 { close(stop); return <-most }
}

var commitWork = regexp.MustCompile(`(?m)^toolrun_database_commit_work_max_seconds (\S+)`)

// commitWork returns the longest time, in milliseconds, for which one commit of the service has
// blocked other commits. The time that a commit needs to write to disk does not count. If the
// service does not report the time of commits, commitWork returns 0.
func (s *service) commitWork() float64 {
	_, text := user{url: s.url}.send("GET", "/metrics", "", nil)
	found := commitWork.FindSubmatch(text)
	if found == nil {
		return 0
	}
	seconds, _ := strconv.ParseFloat(string(found[1]), 64) // a number
	return 1000 * seconds
}
