"""The globals of a tool. In a tool, only for an editor and a type checker:

    from typing import TYPE_CHECKING
    if TYPE_CHECKING:
        from toolrun.tool import *

A type checker can check a tool with a function main or execute, but not a body, whose return and await are
outside of any function. It does not know the declared parameters of a tool, which toolrun makes variables.
"""

import base64 as base64
import calendar as calendar
import cmath as cmath
import collections as collections
import copy as copy
import csv as csv
import dataclasses as dataclasses
import decimal as decimal
import enum as enum
import functools as functools
import hashlib as hashlib
import itertools as itertools
import json as json
import logging as logging
import math as math
import operator as operator
import random as random
import re as re
import secrets as secrets
import statistics as statistics
import string as string
import textwrap as textwrap
import time as time
import typing as typing
import uuid as uuid
from datetime import datetime as datetime
from typing import Any

from toolrun import memory as memory
from toolrun import model as model
from toolrun.errors import (
    AccessDeniedError as AccessDeniedError,
    ConflictError as ConflictError,
    InvalidArgumentError as InvalidArgumentError,
    MemoryAccessError as MemoryAccessError,
    NoAgentError as NoAgentError,
    NoSessionError as NoSessionError,
    NoUserError as NoUserError,
    NoWorkflowError as NoWorkflowError,
    NotFoundError as NotFoundError,
    QuotaExceededError as QuotaExceededError,
    ReadOnlyError as ReadOnlyError,
    SchemaViolationError as SchemaViolationError,
    SessionEndedError as SessionEndedError,
    TooLargeError as TooLargeError,
    UnavailableError as UnavailableError,
    WorkflowEndedError as WorkflowEndedError,
)

class Environment(dict[str, str]):
    """The variables of the tool, as items and as attributes."""

    def __getattr__(self, name: str) -> str: ...

# The input of the run.
input: dict[str, Any]
# The context of the run: sessionId, userId, appId, runId, env, message, steps. Keys that the tool adds are returned.
context: dict[str, Any]
env: Environment
