// Package pythontools contains the test tools of package enginetest in Python.
package pythontools
