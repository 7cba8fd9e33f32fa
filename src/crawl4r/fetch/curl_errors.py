"""Translate libcurl's error codes into failures, with a reason and whether to retry."""

from __future__ import annotations

import pycurl

from crawl4r.model import Failure, Verdict
from crawl4r.urls.credentials import without_credentials

_E_TOO_LARGE = 100  # CURLE_TOO_LARGE, here always about headers
_E_PROXY = 97  # CURLE_PROXY, missing in pycurl
# code: (short reason, worth another try)
_REASONS: dict[int, tuple[str, bool]] = {
    pycurl.E_URL_MALFORMAT: ("url", False),
    pycurl.E_UNSUPPORTED_PROTOCOL: ("protocol", False),
    pycurl.E_COULDNT_RESOLVE_HOST: ("dns", True),
    pycurl.E_COULDNT_RESOLVE_PROXY: ("proxy-dns", True),
    pycurl.E_COULDNT_CONNECT: ("connect", True),
    _E_PROXY: ("proxy", True),
    pycurl.E_FTP_WEIRD_SERVER_REPLY: ("not-http", False),
    pycurl.E_PARTIAL_FILE: ("truncated", True),
    pycurl.E_OPERATION_TIMEDOUT: ("timeout", True),
    pycurl.E_SSL_CONNECT_ERROR: ("tls", True),
    pycurl.E_PEER_FAILED_VERIFICATION: ("certificate", False),
    pycurl.E_GOT_NOTHING: ("empty-reply", True),
    pycurl.E_SEND_ERROR: ("send", True),
    pycurl.E_RECV_ERROR: ("reset", True),
    pycurl.E_HTTP2: ("http2", True),
}
_HEADERS_TOO_LARGE = ("header", "too large")
_NO_STATUS_LINE = (
    "HTTP/0.9"  # libcurl's name for an answer without a status line on a new connection
)


def failure_of(
    handle: pycurl.Curl, code: int, message: str, refusal: str | None, sent_at: float, now: float
) -> Failure:
    """Translate a failed transfer; `refusal` is the reason of the egress gate, if it refused."""
    latency = max(0.0, now - sent_at)
    message = without_credentials(message)  # libcurl quotes the URL of an unusable proxy
    status = handle.getinfo(pycurl.RESPONSE_CODE) or None
    if refusal and code in {pycurl.E_COULDNT_CONNECT, _E_PROXY}:
        return Failure(
            Verdict.EGRESS_REFUSED, refusal, False, sent_at, latency, None, hurts_host=False
        )
    if code == pycurl.E_FILESIZE_EXCEEDED:
        reason = "longer than the byte limit"
        return Failure(Verdict.TOO_LARGE, reason, False, sent_at, latency, status, hurts_host=False)
    if code == _E_TOO_LARGE or all(word in message.lower() for word in _HEADERS_TOO_LARGE):
        reason = f"headers-too-large: {message or 'a line is longer than the limit'}"
        return Failure(Verdict.HOSTILE, reason, False, sent_at, latency, status, hurts_host=False)
    reason, transient = _REASONS.get(code, (f"curl-{code}", True))
    if _NO_STATUS_LINE in message:
        reason = "not-http"
    return Failure(
        Verdict.NETWORK_ERROR, f"{reason}: {message}", transient, sent_at, latency, status
    )


def costly_answer(handle: pycurl.Curl, most: float, sent_at: float, now: float) -> Failure:
    """The failure for an answer whose packets and chunks cost more than `most` seconds of CPU."""
    reason = f"its packets and chunks cost more than {most:g} s of work"
    status = handle.getinfo(pycurl.RESPONSE_CODE) or None
    return Failure(Verdict.HOSTILE, reason, False, sent_at, max(0.0, now - sent_at), status)
