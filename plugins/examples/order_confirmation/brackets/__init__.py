# Copyright the toolrun authors. Licensed under the Apache License, Version 2.0.
"""Texts with names in brackets: render("Hello [name]!", name="Ann"). Two opening brackets stand for one."""

from .rendering import Missing, names, render

__all__ = ["Missing", "names", "render"]
