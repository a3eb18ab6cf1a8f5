package toolrun

import (
	"path"
	"runtime"
	"strconv"
	"strings"
)

// self is what the names of this package's functions begin with.
const self = "github.com/toolrun/toolrun/abi/guest/go."

// maxFrames bounds a stack that is told.
const maxFrames = 20

// here is where the code that uses this package is: the innermost place that is the author's own, and the stack.
// Files have their base names alone, since a path would tell of the machine that built the plug-in.
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

// shorten leaves the path of its package out of a function's name: "main.paint" is paint,
// "example.com/colour.(*Pot).Fill" is colour.(*Pot).Fill.
func shorten(function string) string {
	function = function[strings.LastIndexByte(function, '/')+1:]
	return strings.TrimPrefix(function, "main.")
}

// isStandard reports whether a function is of the standard library: only there the first part of a package's path
// has no dot, package main apart.
func isStandard(function string) bool {
	first, _, deeper := strings.Cut(function, "/")
	if !deeper {
		return !strings.HasPrefix(function, "main.")
	}
	return !strings.Contains(first, ".")
}
