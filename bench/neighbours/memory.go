package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"
)

var anonymous = regexp.MustCompile(`RssAnon:\s+(\d+) kB`)

// memory is how many MiB the service itself holds: neither its cells nor pages of files, which the kernel can take back.
// It is 0 where that cannot be had, or the service has ended.
func (s *service) memory() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid)) // other systems have none
	found := anonymous.FindSubmatch(text)
	if found == nil {
		return 0
	}
	kib, _ := strconv.ParseFloat(string(found[1]), 64) // digits
	return kib / 1024
}

// watch looks at the memory until the returned function is called, which returns the most that was seen.
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

// commitWork is how many milliseconds the service's longest commit has held up others so far, without the time to write
// it. It is 0 for a service that does not report it.
func (s *service) commitWork() float64 {
	_, text := user{url: s.url}.send("GET", "/metrics", "", nil)
	found := commitWork.FindSubmatch(text)
	if found == nil {
		return 0
	}
	seconds, _ := strconv.ParseFloat(string(found[1]), 64) // a number
	return 1000 * seconds
}
