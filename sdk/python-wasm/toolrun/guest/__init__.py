"""The guest's part of the Python runtime. The counterpart in the host is the Go package host/engine/python.

A tool never imports this package. A tool uses the objects that the package provides: the module ``memory``,
``context``, ``input`` and the other names that ``globals.py`` adds to a tool's globals.
"""
