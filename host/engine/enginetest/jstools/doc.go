// Package jstools holds the tools of package enginetest in JavaScript, for every engine that runs it.
package jstools
