"""Settings in layers: ChainMap, MappingProxyType, defaults, UserDict."""

from collections import ChainMap, UserDict
from types import MappingProxyType


class Folded(UserDict):
    """A dict whose keys have no case."""

    def __getitem__(self, key):
        return self.data[key.casefold()]

    def __setitem__(self, key, value):
        self.data[key.casefold()] = value

    def __contains__(self, key):
        return key.casefold() in self.data


defaults = MappingProxyType({"colour": "red", "size": 3})
settings = ChainMap({"size": 5}, {"user": "ann"}, dict(defaults))
child = settings.new_child({"colour": "blue"})
child["new"] = True
try:
    defaults["size"] = 4
except TypeError:
    refused = True
headers = Folded({"Content-Type": "text/html"})
headers["ACCEPT"] = "*"
return {
    "child": dict(sorted(child.items())),
    "parent": dict(sorted(settings.items())),
    "first": child.maps[0],
    "refused": refused,
    "headers": [headers["content-TYPE"], "accept" in headers, headers.get("nope", 1), sorted(headers)],
    "merged": {"a": 1, "b": 2} | {"b": 3},
}
