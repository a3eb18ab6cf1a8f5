"""The guest's part of the Python runtime. Its counterpart in the host is the Go package host/engine/python.

A tool never imports this package. It uses the objects that the package provides: the module ``memory``, ``context``,
``input`` and the other names that ``globals.py`` adds to a tool's globals.
"""
