# Copyright the toolrun authors. Licensed under the Apache License, Version 2.0.
"""Text templates with names in brackets: render("Hello [name]!", name="Ann"). [[ stands for a literal [."""

from .rendering import Missing, names, render

__all__ = ["Missing", "names", "render"]
