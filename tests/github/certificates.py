"""An authority of our own and a certificate that it signs for the names of the site."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"


@dataclass(frozen=True, slots=True)
class Authority:
    """`ca_file` is what a client must trust; the certificate itself is in no client's hands."""

    folder: Path

    @property
    def ca_file(self) -> Path:
        return self.folder / "ca.pem"

    def server_context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "site.pem", self.folder / "site.key")
        return context


def make_authority(folder: Path, names: Sequence[str]) -> Authority:
    """A new authority in `folder`, and a certificate for `names` signed by it."""
    extensions = folder / "extensions"
    names_line = ",".join(f"DNS:{name}" for name in names)
    extensions.write_text(f"subjectAltName={names_line}\nbasicConstraints=CA:FALSE\n")
    root = f"req -x509 {_KEY} -days 2 -subj /CN=authority -addext keyUsage=critical,keyCertSign"
    _openssl(root, "-keyout", folder / "ca.key", "-out", folder / "ca.pem")
    _openssl(
        f"req {_KEY} -subj /CN=site", "-keyout", folder / "site.key", "-out", folder / "site.csr"
    )
    signing = ["-CA", folder / "ca.pem", "-CAkey", folder / "ca.key", "-extfile", extensions]
    files = ["-in", folder / "site.csr", "-out", folder / "site.pem"]
    _openssl("x509 -req -days 2 -CAcreateserial", *signing, *files)
    return Authority(folder)


def _openssl(words: str, *files: str | Path) -> None:
    subprocess.run(["openssl", *words.split(), *files], check=True, capture_output=True)
