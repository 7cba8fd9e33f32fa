"""The kinds of values that a setting may have, beside plain text, numbers and switches."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from crawl4r.settings.validate import ADDRESS, AS_WRITTEN, DURATION, SECRET, SIZE

Count = Annotated[int, Meta(ge=0)]
Bytes = Annotated[int, Meta(ge=0), SIZE]  # or 10MB, 1GiB
MoreBytes = Annotated[int, Meta(gt=0), SIZE]  # more than none
Seconds = Annotated[float, Meta(ge=0), DURATION]  # or 90s, 10m, 1h30m
MoreSeconds = Annotated[float, Meta(gt=0), DURATION]  # more than none
Share = Annotated[str, AS_WRITTEN]  # 500 or 20%
Secret = Annotated[str, SECRET]
Address = Annotated[str, ADDRESS]  # of a server, perhaps with a name and password
Octal = Annotated[str, AS_WRITTEN]  # '0644', or the number that YAML reads without quotes
