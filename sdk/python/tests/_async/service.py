"""The service of the tests, which client_test.go starts. Environment variables contain its URL and its keys."""

from __future__ import annotations

import os
import uuid
from typing import Any
from unittest import IsolatedAsyncioTestCase

import httpx

from toolrun.client import AsyncClient


async def record(request: httpx.Request) -> None:
    """Append an operation to the file whose contents client_test.go compares with the API."""
    with open(os.environ["OPERATIONS"], "a", encoding="utf-8") as file:
        file.write(f"{request.method} {request.url.raw_path.decode().partition('?')[0]}\n")


class ServiceCase(IsolatedAsyncioTestCase):
    """A test case with the clients of an operator and of a runtime, and ids that no other test uses."""

    async def asyncSetUp(self) -> None:
        self.http = httpx.AsyncClient(timeout=60, event_hooks={"request": [record]})
        self.addAsyncCleanup(self.http.aclose)
        self.user = f"ann_{uuid.uuid4().hex}"
        self.operator = self.client("OPERATOR")
        self.runtime = self.client("RUNTIME", app="shop")

    def client(self, role: str, **options: Any) -> AsyncClient:
        """Return a client with the key of a role."""
        return AsyncClient(os.environ["SERVICE"], os.environ[role], http=self.http, **options)
