package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"
)

var anonymous = regexp.MustCompile(`RssAnon:\s+(\d+) kB`)

// memory returns the memory of the service itself in MiB, without its workers and without file
// pages, which the kernel can reclaim. It is 0 if unknown or if the service has ended.
func (s *service) memory() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid)) // only on Linux
	found := anonymous.FindSubmatch(text)
	if found == nil {
		return 0
	}
	kib, _ := strconv.ParseFloat(string(found[1]), 64) // digits
	return kib / 1024
}

// watch samples the memory until the returned function is called, which returns the maximum.
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

// commitWork returns how long the longest commit of the service has blocked others so far, in
// milliseconds and without the time to write it. It is 0 for a service that does not report it.
func (s *service) commitWork() float64 {
	_, text := user{url: s.url}.send("GET", "/metrics", "", nil)
	found := commitWork.FindSubmatch(text)
	if found == nil {
		return 0
	}
	seconds, _ := strconv.ParseFloat(string(found[1]), 64) // a number
	return 1000 * seconds
}
