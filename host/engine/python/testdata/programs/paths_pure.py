"""Paths without files: parts, suffixes, joins, matches, relative ones."""

import fnmatch
import posixpath
import re
from pathlib import PurePosixPath, PureWindowsPath

path = PurePosixPath("/srv/data/../logs/app.tar.gz")
windows = PureWindowsPath(r"C:\Users\Ann\file.TXT")
try:
    PurePosixPath("/a").relative_to("/b")
except ValueError:
    unrelated = True
return {
    "path": [path.name, path.stem, path.suffixes, list(path.parts), str(path.parent), path.is_absolute()],
    "joined": [str(path / "x"), str(path / "/y"), str(path.with_suffix(".zip")), str(path.with_name("b"))],
    "windows": [
        windows.drive,
        windows.as_posix(),
        windows == PureWindowsPath("c:/users/ann/FILE.txt"),
        windows.as_uri(),
    ],
    "match": [
        path.match("*.gz"),
        PurePosixPath("a/b.py").match("a/*.py"),
        fnmatch.filter(["a.py", "b.txt", "c.PY"], "*.py"),
    ],
    "relative": [
        str(PurePosixPath("/a/b/c").relative_to("/a")),
        PurePosixPath("/a/b").is_relative_to("/a/b"),
        unrelated,
    ],
    "functions": [
        posixpath.normpath("a//b/../c/."),
        posixpath.splitext(".bashrc"),
        posixpath.commonpath(["/a/b", "/a/c"]),
        posixpath.relpath("/a/b", "/a/c"),
    ],
    "translate": re.match(fnmatch.translate("[!a]?.t*"), "bc.txt") is not None,
}
