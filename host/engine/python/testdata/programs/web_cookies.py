"""http: cookies, status codes, headers, names of methods."""

from http import HTTPMethod, HTTPStatus, cookies
from wsgiref.headers import Headers


def main():
    jar = cookies.SimpleCookie('a=1; b="x y"; bad name=2; c=%20')
    jar["session"] = "s3;cret"
    jar["session"].update({"path": "/", "httponly": True, "max-age": 60, "samesite": "Lax"})
    headers = Headers([("Content-Type", "text/html")])
    headers.add_header("Content-Disposition", "attachment", filename="a b.txt")
    headers["content-type"] = "text/plain"
    return {
        "read": {name: morsel.value for name, morsel in cookies.SimpleCookie('a=1; b="x y"; c=%20').items()},
        "written": jar["session"].OutputString(),
        "codes": [HTTPStatus(404).phrase, HTTPStatus.IM_A_TEAPOT, HTTPStatus.OK == 200, HTTPStatus["CREATED"].value],
        "headers": headers.items(),
        "method": HTTPMethod.PATCH,
    }
