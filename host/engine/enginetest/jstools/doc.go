// Package jstools contains the test tools of package enginetest in JavaScript. Every JavaScript
// engine can use them.
package jstools
