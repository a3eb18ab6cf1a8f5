"""The globals of a tool, in addition to those of Python."""

import base64
import builtins
import calendar
import cmath
import collections
import copy
import csv
import dataclasses
import decimal
import enum
import functools
import hashlib
import itertools
import json
import logging
import math
import operator
import random
import re
import secrets
import statistics
import string
import textwrap
import time
import typing
import uuid
from datetime import datetime

from . import errors
from .unsupported import NO_STDIN

# Modules that a tool can use without an import. ``datetime`` is the class instead of the module,
# because most samples use the class.
_MODULES = (
    base64, calendar, cmath, collections, copy, csv, dataclasses, decimal, enum, functools, hashlib, itertools, json,
    logging, math, operator, random, re, secrets, statistics, string, textwrap, time, typing, uuid,
)

_ERRORS = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.MemoryAccessError)
}


class Input(dict):
    """The input: a dict that raises an error if code calls it like the built-in function input."""

    def __call__(self, *args):
        raise RuntimeError(f"input() {NO_STDIN}")


class Environment(dict):
    """The variables of a tool, as items and as attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the tool has no variable {name}") from None


# The names whose values differ between runs.
RUN_NAMES = frozenset({"input", "context", "env"})


def constant_names(modules):
    """Return the globals that are the same in every run. ``modules`` contains the host's modules by name."""
    names = {module.__name__: module for module in _MODULES}
    names.update(_ERRORS, datetime=datetime, **modules)
    return names


def names_of_run(input, context, params):
    """Return the globals of one run.

    A declared parameter that is missing in the input is None, or keeps the other meaning of its name.
    """
    names = {}
    for name in params:
        if name.isidentifier() and not _is_reserved(name) and (name in input or not _is_predefined(name)):
            names[name] = input.get(name)
    env = context.get("env")
    names.setdefault("env", Environment(env if isinstance(env, dict) else {}))
    names.setdefault("context", context)
    names.setdefault("input", input)
    return names


def reserved_name_warning(params):
    """Return a warning about a declared parameter that does not become a variable because its name is reserved, or None."""
    taken = sorted(filter(_is_reserved, params))
    if not taken:
        return None
    return f'the parameter {taken[0]} has a reserved name and is not a variable; use input["{taken[0]}"]'


_PREDEFINED = frozenset({"datetime", *(module.__name__ for module in _MODULES)})
_RESERVED = frozenset({"memory", *_ERRORS})


def _is_reserved(name):
    return name in _RESERVED or name.startswith("__")


def _is_predefined(name):
    return name in _PREDEFINED or hasattr(builtins, name)
