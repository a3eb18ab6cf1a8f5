//go:build !linux

package abl

import "time"

var clockStart = time.Now()

// clock returns the time since the start of the tests.
func clock() time.Duration { return time.Since(clockStart) }
