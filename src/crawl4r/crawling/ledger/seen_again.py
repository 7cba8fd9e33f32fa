"""What a visit to a known page teaches about how often it changes."""

from __future__ import annotations

from crawl4r.archive.captures import CapturedAnswer, answer_in
from crawl4r.frontier.revisits import Revisit
from crawl4r.model import Capture, UrlState, Visit


def revisit_in(visit: Visit, capture: Capture, before: CapturedAnswer | None) -> Revisit | None:
    """The revisit, for a page with this and an earlier answer; else None."""
    if before is None or visit.ending.state is not UrlState.DONE or capture.status >= 500:
        return None
    answer = answer_in(capture)
    # A disappearing page counts in `gone`, and not as a change.
    is_changed = answer.said != before.said and not answer.is_gone
    gone = answer.is_gone + (answer.is_gone and before.is_gone)
    return Revisit(visit.lease.url, answer.at, answer.at - before.at, is_changed, gone)
