"""What is asked of an embedding service and how it says no: TEI's words, and OpenAI's."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError

Q = TypeVar("Q", bound=BaseModel)

# TEI's kinds of errors: the status it answers with, and OpenAI's status and type for the same.
_KINDS = {
    "Validation": (413, 400, "invalid_request_error"),
    "Tokenizer": (422, 400, "invalid_request_error"),
    "Empty": (400, 400, "invalid_request_error"),
    "Backend": (424, 500, "server_error"),
    "Overloaded": (429, 429, "rate_limit_error"),
    "Unhealthy": (503, 503, "service_unavailable_error"),
}


class Refused(Exception):
    """An answer that is an error; `kind` is one of TEI's."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class EmbedQuestion(BaseModel):
    inputs: str | list[str]
    truncate: bool | None = None
    prompt_name: str | None = None


class RerankQuestion(BaseModel):
    query: str
    texts: list[str]
    raw_scores: bool = False
    return_text: bool = False


class OpenAiQuestion(BaseModel):
    input: str | list[str]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None


async def read_question(request: Request, kind: type[Q], max_bytes: int) -> Q:
    """The body of a request, never more of it in memory than is allowed."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise Refused("Validation", f"the request has more than {max_bytes} bytes")
    try:
        return kind.model_validate_json(bytes(body))
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        text = f"{where}: {first['msg']}" if where else first["msg"]
        raise Refused("Tokenizer", text) from None  # 422, as TEI answers to what it cannot read


def refusal(request: Request, refused: Exception) -> JSONResponse:
    """The error as those who ask on this path expect it."""
    assert isinstance(refused, Refused)
    tei_status, openai_status, openai_type = _KINDS[refused.kind]
    headers = {"Retry-After": "1"} if refused.kind == "Overloaded" else None
    if not request.url.path.startswith("/v1/"):
        shape: dict[str, Any] = {"error": refused.message, "error_type": refused.kind}
        return JSONResponse(shape, tei_status, headers)
    error = {"message": refused.message, "type": openai_type, "param": None, "code": None}
    return JSONResponse({"error": error}, openai_status, headers)
