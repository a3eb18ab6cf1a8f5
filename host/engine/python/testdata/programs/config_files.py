"""Configuration: ini with interpolation, toml, shell words."""

import configparser
import shlex
import tomllib

INI = """
[DEFAULT]
home = /srv
[web]
root = %(home)s/web
ports = 80, 443
debug = yes
[empty]
"""
TOML = """
title = "Settings"
[owner]
born = 1979-05-27T07:32:00-08:00
[[items]]
name = "a"
price = 1.50
tags = ["x", "y",]
[[items]]
name = 'b\\n'
at = 07:32:00
"""


def main():
    ini = configparser.ConfigParser()
    ini.read_string(INI)
    toml = tomllib.loads(TOML)
    toml["owner"]["born"] = toml["owner"]["born"].isoformat()
    toml["items"][1]["at"] = str(toml["items"][1]["at"])
    try:
        tomllib.loads("a = 1\na = 2")
    except tomllib.TOMLDecodeError as error:
        twice = str(error)
    words = shlex.split('cp \'my file\' "to \\"there\\"" # why', comments=True)
    return [
        {s: dict(ini[s]) for s in ini.sections()},
        ini["web"].getboolean("debug"),
        toml,
        twice,
        words,
        shlex.join(words),
    ]
