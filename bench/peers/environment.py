"""The peers' virtual environment, made on first use and again when their versions change."""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "requirements.txt"


def cache() -> Path:
    """Where the bench keeps what is costly to make: peers, sites, manifests."""
    configured = os.environ.get("CRAWL4R_BENCH_CACHE")
    directory = Path(configured) if configured else Path.home() / ".cache" / "crawl4r-bench"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def python() -> Path:
    """The interpreter of an environment that holds exactly `requirements.txt`."""
    directory = cache() / "peers"
    interpreter = directory / "bin" / "python"
    ready = directory / "ready"
    wanted = f"{sys.version}\n{hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()}\n"
    if not ready.exists() or ready.read_text() != wanted:
        print(f"making the peers' environment in {directory}", file=sys.stderr)
        shutil.rmtree(directory, ignore_errors=True)
        venv.create(directory, with_pip=True)
        pip = [str(interpreter), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", str(REQUIREMENTS)], check=True)
        ready.write_text(wanted)
    return interpreter
