// Package pythontools contains the test tools of package enginetest, written in Python.
package pythontools
