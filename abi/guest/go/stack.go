package toolrun

import (
	"path"
	"runtime"
	"strconv"
	"strings"
)

// self is the prefix of the qualified names of this package's functions.
const self = "github.com/toolrun/toolrun/abi/guest/go."

// maxFrames is the maximum number of frames in a reported stack.
const maxFrames = 20

// The function "here" returns the position of the innermost frame in the source of the plug-in, and
// the stack. File names do not contain folders, which would reveal paths of the build machine.
func here() (file string, line int, stack string) {
	var counters [64]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters[:])])
	var lines []string
	found := false
	for more := true; more && len(lines) < maxFrames; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.Function == "" || strings.HasPrefix(f.Function, "runtime.") || strings.HasPrefix(f.Function, self) {
			continue
		}
		base := path.Base(f.File)
		lines = append(lines, "at "+shorten(f.Function)+" ("+base+":"+strconv.Itoa(f.Line)+")")
		if own := !isStandard(f.Function); file == "" || own && !found {
			file, line, found = base, f.Line, own
		}
	}
	return file, line, strings.Join(lines, "\n")
}

// shorten removes the path of the package from a function's name. For example, "main.paint" becomes
// paint, and "example.com/color.(*Pot).Fill" becomes color.(*Pot).Fill.
func shorten(function string) string {
	function = function[strings.LastIndexByte(function, '/')+1:]
	return strings.TrimPrefix(function, "main.")
}

// isStandard reports whether a function belongs to the standard library. The first element of a
// standard package's path contains no dot. The path of package main also contains no dot, but
// package main is not a standard package.
func isStandard(function string) bool {
	first, _, deeper := strings.Cut(function, "/")
	if !deeper {
		return !strings.HasPrefix(function, "main.")
	}
	return !strings.Contains(first, ".")
}
