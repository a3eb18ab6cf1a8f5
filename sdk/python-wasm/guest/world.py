"""What a tool finds in its globals, beside what Python itself has."""

import base64
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
    names.update(datetime=datetime, memory=memory)
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, errors.MemoryAccessError):
            names[name] = value
    return names


def names_of_run(input, context, params):
    """The names that stand for what one run gets. A declared parameter that is not given is None."""
    names = {param: input.get(param) for param in params if param.isidentifier()}
    env = context.get("env")
    names.setdefault("env", Environment(env if isinstance(env, dict) else {}))
    names.setdefault("context", context)
    names.setdefault("input", input)
    return names
