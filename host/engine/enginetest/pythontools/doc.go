// Package pythontools has the tools of the suite of engines in Python.
package pythontools
