"""Requests and error answers of an embedding service, in the shapes of TEI and OpenAI."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from fastapi import Request
from fastapi.responses import JSONResponse
from msgspec import DecodeError, Struct
from msgspec.json import decode
from starlette.requests import ClientDisconnect

Q = TypeVar("Q", bound=Struct)

# TEI's kinds of errors: TEI's status, then OpenAI's status and type for the same error.
_KINDS = {
    "Validation": (413, 400, "invalid_request_error"),
    "Tokenizer": (422, 400, "invalid_request_error"),
    "Empty": (400, 400, "invalid_request_error"),
    "Backend": (424, 500, "server_error"),
    "Overloaded": (429, 429, "rate_limit_error"),
    "Forbidden": (403, 403, "permission_error"),
    "Unhealthy": (503, 503, "service_unavailable_error"),
}


class RequestRefused(Exception):
    """An error answer; `kind` is one of TEI's."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class EmbedQuestion(Struct):
    inputs: str | list[str]
    truncate: bool | None = None
    prompt_name: str | None = None


class RerankQuestion(Struct):
    query: str
    texts: list[str]
    raw_scores: bool = False
    return_text: bool = False


class OpenAiQuestion(Struct):
    input: str | list[str]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None


class Bodies:
    """Reads request bodies, with a size limit for each and one for all concurrent bodies."""

    def __init__(self, largest: int, most: int) -> None:
        self._largest = largest
        self._most = most
        self._held = 0

    async def read(self, request: Request, kind: type[Q]) -> Q:
        """Parse the request in a body. Raises RequestRefused when it is too large or invalid."""
        body = bytearray()
        try:
            async for chunk in request.stream():
                body += chunk
                self._held += len(chunk)
                if len(body) > self._largest:
                    raise RequestRefused(
                        "Validation", f"the request has more than {self._largest} bytes"
                    )
                if self._held > self._most:
                    raise RequestRefused("Overloaded", "too many large requests arrive at once")
            return _parse(kind, bytes(body))
        except ClientDisconnect:
            raise RequestRefused("Empty", "the request broke off") from None
        finally:
            self._held -= len(body)


def _parse(kind: type[Q], body: bytes) -> Q:
    """Parse JSON. It stops at the first error and does not build unknown fields."""
    try:
        return decode(body, type=kind)
    except (DecodeError, RecursionError) as problem:
        raise RequestRefused("Tokenizer", str(problem)) from None  # 422, like TEI


def refusal(request: Request, refused: Exception) -> JSONResponse:
    """The error in the shape that clients of this path expect."""
    assert isinstance(refused, RequestRefused)
    tei_status, openai_status, openai_type = _KINDS[refused.kind]
    headers = {"Retry-After": "1"} if refused.kind == "Overloaded" else None
    if not request.url.path.startswith("/v1/"):
        shape: dict[str, Any] = {"error": refused.message, "error_type": refused.kind}
        return JSONResponse(shape, tei_status, headers)
    error = {"message": refused.message, "type": openai_type, "param": None, "code": None}
    return JSONResponse({"error": error}, openai_status, headers)
