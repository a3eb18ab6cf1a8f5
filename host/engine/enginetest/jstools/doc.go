// Package jstools contains the test tools of package enginetest, written in JavaScript. Every
// JavaScript engine can run the tools in this package.
package jstools
