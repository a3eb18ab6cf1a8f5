"""For authors of toolrun tools in Python: types of what a tool finds, and memory for its tests.

Inside of a tool nothing of this is installed or imported: ``memory``, ``context``, ``input`` and the errors are there.
``toolrun.testing`` runs a tool in a test; ``toolrun.tool`` has the types.
"""

from pathlib import Path

_here = Path(__file__).resolve().parent
if not (_here / "guest").is_dir():
    # A source tree: the modules that run inside the sandbox lie beside this package, where the host takes them from.
    __path__.append(str(_here.parent))
