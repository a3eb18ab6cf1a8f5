// Package jstools contains the test tools of package enginetest in JavaScript. Every JavaScript
// engine can run the tools in this package.
package jstools
