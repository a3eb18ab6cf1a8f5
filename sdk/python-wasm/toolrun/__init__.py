"""Tests and types for toolrun tools in Python.

``toolrun.testing`` runs a tool in a test, with toolrun's memory; ``toolrun.tool`` contains the types. A tool does not
import this package: ``memory``, ``context``, ``input`` and the errors are globals.
"""

from pathlib import Path

_here = Path(__file__).resolve().parent
if not (_here / "guest").is_dir():
    # In the source tree, the modules that run inside the sandbox are in a folder next to this
    # package. The host embeds them from that folder.
    __path__.append(str(_here.parent))
