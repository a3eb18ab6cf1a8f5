"""What a tool finds in its globals, beside what Python itself has."""

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

# Modules that a tool may name without an import; ``datetime`` is the class, as most samples use it.
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
    """The input: a dict which says so where it is taken for the function of the same name."""

    def __call__(self, *args):
        raise RuntimeError("input() has nobody to ask: what a tool gets is in the dict input")


class Environment(dict):
    """The variables of a tool, by item or by attribute."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the tool has no variable {name}") from None


# The names that another value stands for in each run.
OF_THE_RUN = frozenset({"input", "context", "env"})


def constant_names(memory):
    """The names that stand for the same in every run."""
    names = {module.__name__: module for module in _MODULES}
    names.update(_ERRORS, datetime=datetime, memory=memory)
    return names


def names_of_run(input, context, params):
    """The names that stand for what one run gets. A declared parameter that is not given is None, or what its name
    means anyway."""
    names = {}
    for name in params:
        if name.isidentifier() and not _is_reserved(name) and (name in input or not _means(name)):
            names[name] = input.get(name)
    env = context.get("env")
    names.setdefault("env", Environment(env if isinstance(env, dict) else {}))
    names.setdefault("context", context)
    names.setdefault("input", input)
    return names


def warning_about(params):
    """What to say of declared parameters that are no variables, since every tool relies on their names; or None."""
    taken = sorted(filter(_is_reserved, params))
    if not taken:
        return None
    return f'the parameter {taken[0]} is no variable, for the name has a meaning already; read it as input["{taken[0]}"]'


_MEANT = frozenset({"datetime", *(module.__name__ for module in _MODULES)})
_RESERVED = frozenset({"memory", *_ERRORS})


def _is_reserved(name):
    return name in _RESERVED or name.startswith("__")


def _means(name):
    return name in _MEANT or hasattr(builtins, name)
