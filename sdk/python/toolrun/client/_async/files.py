"""The files of sessions."""

from __future__ import annotations

from typing import BinaryIO, List, Optional, Union

from toolrun.client import _response
from toolrun.client._async.handle import AsyncHandle
from toolrun.client._request import Request, get, upload_of
from toolrun.client.models import Download, File, Page


class AsyncFiles(AsyncHandle):
    """The files of sessions."""

    async def upload(
        self,
        session_id: str,
        content: Union[bytes, BinaryIO],
        *,
        name: Optional[str] = None,
        media_type: str = "application/octet-stream",
        user_id: Optional[str] = None,
    ) -> File:
        """Upload a file to a session, which is started if it does not exist.

        ``content`` is bytes or an open binary file. The format must match the extension of the name, whose default is the
        name of the open file.
        """
        request = Request("POST", ("sessions", session_id, "files"), self._transport.caller(user_id))
        request.files = {"file": upload_of(content, name, media_type)}
        return await self._transport.fetch(File, request)

    async def list(self, session_id: str, *, user_id: Optional[str] = None) -> List[File]:
        """List the files of a session."""
        request = get("sessions", session_id, "files", **self._transport.caller(user_id))
        return (await self._transport.fetch(Page[File], request)).items

    async def change(self, session_id: str, file_id: str, *, is_active: bool, user_id: Optional[str] = None) -> File:
        """Change whether the file is active."""
        request = Request("PATCH", ("sessions", session_id, "files", file_id), self._transport.caller(user_id))
        return await self._transport.fetch(File, request.with_json({"is_active": is_active}))

    async def delete(self, session_id: str, file_id: str, *, user_id: Optional[str] = None) -> File:
        """Remove a file and return its description. Its ``download_url`` becomes invalid."""
        request = Request("DELETE", ("sessions", session_id, "files", file_id), self._transport.caller(user_id))
        return await self._transport.fetch(File, request)

    async def download(self, session_id: str, file_id: str, *, user_id: Optional[str] = None) -> Download:
        """Download a file."""
        request = get("sessions", session_id, "files", file_id, **self._transport.caller(user_id))
        response = await self._transport.send(request)
        content = await self._transport.read(request, response)
        name = _response.filename_of(response)
        if name is None:
            raise _response.foreign(response.status_code)
        return Download(name, _response.media_of(response), content)
