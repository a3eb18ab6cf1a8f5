"""Tests and types for toolrun tools in Python.

``toolrun.testing`` runs a tool in a test, with toolrun's memory; ``toolrun.tool`` contains the types. A tool does not
import this package: ``memory``, ``context``, ``input`` and the errors are globals.
"""

from pathlib import Path

_here = Path(__file__).resolve().parent
if not (_here / "guest").is_dir():
    # In a source tree, the modules that run inside the sandbox are next to this package, where the host embeds them.
    __path__.append(str(_here.parent))
