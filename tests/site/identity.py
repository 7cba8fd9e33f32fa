"""Who does the client say it is: cookies, credentials, headers."""

import base64
import json

from tests.site.exchange import Reply, Request, Routes, html_page

COOKIE = "flavour=oatmeal"
USER, PASSWORD = "crawler", "opensesame"
AUTHORIZATION = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


async def set_cookie(request: Request, reply: Reply) -> None:
    headers = [("Set-Cookie", f"{COOKIE}; Path=/cookie")]
    await reply.send(html_page("Cookie set", '<a href="/cookie/check">Check</a>'), headers=headers)


async def check_cookie(request: Request, reply: Reply) -> None:
    """200 with the cookie of /cookie/set, 403 without."""
    sent = {cookie.strip() for cookie in (request.header("Cookie") or "").split(";")}
    status = 200 if COOKIE in sent else 403
    await reply.send(html_page("Cookie check", f"<p>{status}</p>"), status=status)


async def require_password(request: Request, reply: Reply) -> None:
    """401 unless asked with USER and PASSWORD; the access log has the header as it was sent."""
    if request.header("Authorization") == AUTHORIZATION:
        await reply.send(html_page("Welcome", "<p>You may read this.</p>"))
    else:
        challenge = [("WWW-Authenticate", 'Basic realm="site"')]
        await reply.send(b"", status=401, headers=challenge)


async def echo_headers(request: Request, reply: Reply) -> None:
    """The request headers as a JSON list of pairs, in the order and case they came."""
    body = json.dumps(request.headers).encode()
    await reply.send(body, content_type="application/json")


def routes() -> Routes:
    return {
        "/cookie/set": set_cookie,
        "/cookie/check": check_cookie,
        "/auth/basic": require_password,
        "/headers": echo_headers,
    }
