"""Embedders and rerankers on other machines: against published shapes, and against our own service."""

from __future__ import annotations

import base64
import random
import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crawl4r.errors import UsageError
from crawl4r.politeness.backoff import Backoff
from crawl4r.search.embed.http_json import JsonClient, Retrying
from crawl4r.search.embed.openai import OpenAiEmbedder
from crawl4r.search.embed.server_failed import ServerFailed
from crawl4r.search.embed.tei import TeiEmbedder, TeiReranker
from tests.search.embed.embedding_servers import (
    DIMENSION,
    INFO,
    Answer,
    Asked,
    HashEmbedder,
    OverlapReranker,
    ScriptedServer,
    as_openai,
    as_tei,
    in_turn,
    openai_error,
    our_service,
    tei_error,
    vector_of,
)

TEXTS = [f"text number {number}" for number in range(10)]
NOW = 1_800_000_000.0


class Waits:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)

    def clock(self) -> float:
        return NOW + sum(self.seconds)


def patient(url: str, waits: Waits, **options: Any) -> JsonClient:
    backoff = Backoff(retries=3, base=1.0, cap=8.0)
    retrying = Retrying(backoff, sleep=waits.sleep, clock=waits.clock, chance=random.Random(1))
    return JsonClient(url, retrying=retrying, **options)


def expected(texts: list[str]) -> np.ndarray[Any, Any]:
    return np.array([vector_of(text) for text in texts])


@pytest.fixture
def waits() -> Waits:
    return Waits()


def test_a_tei_server_is_asked_in_batches_it_takes() -> None:
    with ScriptedServer(as_tei) as server:
        embedder = TeiEmbedder(server.url + "/", api_key="secret")
        embedder.check()
        vectors = embedder.embed(TEXTS)
        assert np.allclose(vectors, expected(TEXTS), atol=1e-6)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
        assert vectors.dtype == np.float32
        questions = server.questions("/embed")
        assert [len(question["inputs"]) for question in questions] == [4, 4, 2]
        assert questions[0] == {"inputs": TEXTS[:4], "normalize": True, "truncate": True}
        assert embedder.dimension == DIMENSION
        assert embedder.model == "thenlper/gte-base@fca14538aa99"
        assert np.allclose(embedder.embed_query("one"), vector_of("one"), atol=1e-6)
        assert embedder.embed([]).shape == (0, DIMENSION)
        assert {asked.headers["Authorization"] for asked in server.asked} == {"Bearer secret"}
        assert len({asked.connection for asked in server.asked}) == 1, "connections are kept"
        embedder.close()


def test_nothing_is_asked_before_it_is_needed() -> None:
    with ScriptedServer(as_tei) as server:
        embedder = TeiEmbedder(server.url)
        assert server.asked == []
        assert embedder.dimension == DIMENSION
        embedder.close()


def test_a_batch_that_is_too_large_is_split() -> None:
    """A server may be set to less than it says, or stand behind a proxy that limits bodies."""

    def script(asked: Asked) -> Answer:
        if asked.path == "/embed" and len(asked.question["inputs"]) > 1:
            return tei_error(413, "batch size 4 > maximum allowed batch size 1", "Validation")
        return as_tei(asked)

    with ScriptedServer(script) as server:
        embedder = TeiEmbedder(server.url)
        assert np.allclose(embedder.embed(TEXTS), expected(TEXTS), atol=1e-6)
        embedder.close()


def test_a_text_that_is_too_large_is_cut() -> None:
    def script(asked: Asked) -> Answer:
        if asked.path == "/embed" and len(asked.question["inputs"][0]) > 1000:
            return Answer(b"length limit exceeded", 413)
        return as_tei(asked)

    with ScriptedServer(script) as server:
        embedder = TeiEmbedder(server.url)
        assert np.allclose(embedder.embed(["word " * 1000]), expected(["word"]), atol=1e-2)
        embedder.close()


def test_a_server_that_takes_nothing_is_given_up() -> None:
    refuse = tei_error(413, "batch size 1 > maximum allowed batch size 0", "Validation")
    with ScriptedServer(in_turn("/embed", [refuse] * 99, as_tei)) as server:
        embedder = TeiEmbedder(server.url)
        with pytest.raises(ServerFailed, match="maximum allowed batch size 0") as caught:
            embedder.embed(["word " * 1000] * 2)
        assert caught.value.status == 413
        assert len(server.questions("/embed")) < 20
        embedder.close()


def test_empty_and_broken_texts_can_be_sent() -> None:
    with ScriptedServer(as_tei) as server:
        embedder = TeiEmbedder(server.url)
        assert embedder.embed(["", "half a pair \ud800", "naïve 漢字 🐈"]).shape == (3, DIMENSION)
        assert server.questions("/embed")[0]["inputs"] == [" ", "half a pair ?", "naïve 漢字 🐈"]
        embedder.close()


@pytest.mark.parametrize(
    ("refusal", "waited"),
    [
        (tei_error(429, "Model is overloaded", "Overloaded", **{"Retry-After": "7"}), [7.0]),
        (tei_error(429, "Model is overloaded", "Overloaded"), [0.57]),
        (tei_error(503, "unhealthy", "Unhealthy"), [0.57]),
        (Answer(b"<h1>Bad Gateway</h1>", 502), [0.57]),
        (Answer(b"", 504, {"Retry-After": "Fri, 15 Jan 2027 08:00:03 GMT"}), [3.0]),
    ],
    ids=["429 and when", "429", "503", "502", "504 and a date"],
)
def test_a_server_that_is_busy_is_asked_again(
    refusal: Answer, waited: list[float], waits: Waits
) -> None:
    with ScriptedServer(in_turn("/embed", [refusal], as_tei)) as server:
        embedder = TeiEmbedder(server.url, client=patient(server.url, waits))
        assert np.allclose(embedder.embed(["one"]), expected(["one"]), atol=1e-6)
        assert waits.seconds == pytest.approx(waited, abs=0.01)
        embedder.close()


def test_a_dropped_connection_is_made_again(waits: Waits) -> None:
    """The first time by libcurl itself: a kept connection may have ended while it was idle."""
    drop = Answer(b"", is_dropped=True)
    with ScriptedServer(in_turn("/embed", [drop, drop], as_tei)) as server:
        embedder = TeiEmbedder(server.url, client=patient(server.url, waits))
        assert np.allclose(embedder.embed(["one"]), expected(["one"]), atol=1e-6)
        assert len(waits.seconds) == 1
        embedder.close()


def test_a_server_that_stays_busy_is_given_up_with_what_it_said(waits: Waits) -> None:
    busy = tei_error(429, "Model is overloaded", "Overloaded")
    with ScriptedServer(in_turn("/embed", [busy] * 9, as_tei)) as server:
        embedder = TeiEmbedder(server.url, client=patient(server.url, waits))
        with pytest.raises(ServerFailed) as caught:
            embedder.embed(["one"])
        assert (
            str(caught.value) == f"{server.url}/embed: answers 429 (4 times): Model is overloaded"
        )
        assert [
            low <= wait <= 2 * low for low, wait in zip([0.5, 1, 2], waits.seconds, strict=True)
        ]
        embedder.close()


def test_a_server_that_asks_for_an_hour_is_given_up_at_once(waits: Waits) -> None:
    later = tei_error(429, "come back", "Overloaded", **{"Retry-After": "3600"})
    with ScriptedServer(in_turn("/embed", [later], as_tei)) as server:
        embedder = TeiEmbedder(server.url, client=patient(server.url, waits))
        with pytest.raises(ServerFailed, match="answers 429: come back"):
            embedder.embed(["one"])
        assert waits.seconds == []
        embedder.close()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (tei_error(422, "Tokenization error", "Tokenizer"), "answers 422: Tokenization error"),
        (tei_error(424, "Inference failed", "Backend"), "answers 424: Inference failed"),
        (Answer(b"", 401), "answers 401"),
        (Answer(b"", 301, {"Location": "http://elsewhere.invalid/"}), "answers 301"),
        (Answer(b"\x1b[31mno\x00 way", 500), r"answers 500: \[31mno way"),
        (Answer(b"x" * 5000, 500), r"answers 500: x{297}\.\.\.$"),
        (Answer(b"[[0.1, 0.2"), "not JSON"),
        (Answer(b"[" * 100_000), "not JSON"),
        (Answer(b""), "not a list of vectors"),
        (Answer({"embeddings": []}), "not a list of vectors"),
        (Answer([0.1, 0.2]), "not a list of vectors"),
        (Answer([[]]), "not a list of vectors"),
        (Answer([["a", "b"]]), "not a list of vectors"),
        (Answer([[0.1, 0.2], [0.3]]), "not a list of vectors"),
        (Answer([[0.1, 0.2], [0.3, 0.4]]), "2 vectors for 1 texts"),
        (Answer(b"[[NaN, 0.5]]"), "NaN"),
        (Answer(b"[[null, 0.5]]"), "NaN"),
        (Answer(b"[[1e999, 0.5]]"), "NaN"),
        (Answer([[0.0, 0.0]]), "zeros"),
    ],
)
def test_what_is_no_answer_is_named_and_not_asked_again(
    answer: Answer, message: str, waits: Waits
) -> None:
    with ScriptedServer(in_turn("/embed", [answer], as_tei)) as server:
        embedder = TeiEmbedder(server.url, client=patient(server.url, waits))
        with pytest.raises(ServerFailed, match=message) as caught:
            embedder.embed(["one"])
        assert str(caught.value).startswith(f"{server.url}/embed: ")
        assert len(server.questions("/embed")) == 1
        embedder.close()


def test_a_server_that_changes_its_dimension_is_noticed() -> None:
    answers = [Answer([[0.6, 0.8]]), Answer([[1.0, 2.0, 2.0]])]
    with ScriptedServer(in_turn("/embed", answers, as_tei)) as server:
        embedder = TeiEmbedder(server.url)
        assert embedder.embed_query("one") == pytest.approx([0.6, 0.8])
        with pytest.raises(ServerFailed, match="3 dimensions where it had 2"):
            embedder.embed(["two"])
        embedder.close()


def test_a_closed_port_is_tried_again_and_then_named(waits: Waits) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    embedder = TeiEmbedder(url, client=patient(url, waits))
    with pytest.raises(ServerFailed, match=r"/info: cannot be asked: .*\(4 times\)$") as caught:
        _ = embedder.model
    assert caught.value.status == 0
    assert len(waits.seconds) == 3
    embedder.close()


def test_a_slow_answer_is_not_waited_for_twice(waits: Waits) -> None:
    with ScriptedServer(in_turn("/embed", [Answer([[1.0]], seconds=20)], as_tei)) as server:
        embedder = TeiEmbedder(server.url, client=patient(server.url, waits, timeout=0.3))
        with pytest.raises(ServerFailed, match=r"gave no answer within 0\.3 s"):
            embedder.embed(["one"])
        assert waits.seconds == []
        embedder.close()


def test_an_endless_answer_is_cut_off_also_when_it_is_packed(waits: Waits) -> None:
    bomb = Answer(b" " * 5_000_000, is_gzipped=True)
    with ScriptedServer(in_turn("/embed", [bomb], as_tei)) as server:
        embedder = TeiEmbedder(server.url, client=patient(server.url, waits, max_bytes=1_000_000))
        with pytest.raises(ServerFailed, match="more than 1,000,000 bytes"):
            embedder.embed(["one"])
        assert np.allclose(embedder.embed(["one"]), expected(["one"]), atol=1e-6)
        embedder.close()


def test_packed_answers_are_read() -> None:
    def script(asked: Asked) -> Answer:
        assert "gzip" in asked.headers["Accept-Encoding"]
        return replace(as_tei(asked), is_gzipped=True)

    with ScriptedServer(script) as server:
        embedder = TeiEmbedder(server.url)
        assert np.allclose(embedder.embed(TEXTS), expected(TEXTS), atol=1e-6)
        embedder.close()


def test_no_secret_is_in_a_message() -> None:
    told = openai_error(401, "Incorrect API key provided: sk-secret", "invalid_request_error")
    with ScriptedServer(lambda _: told) as server:
        url = server.url.replace("http://", "http://user:password@")
        embedder = TeiEmbedder(url, api_key="sk-secret")
        with pytest.raises(ServerFailed) as caught:
            embedder.embed(["one"])
        message = str(caught.value)
        assert message == f"{server.url}/info: answers 401: Incorrect API key provided: ***"
        embedder.close()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8080",
        "ftp://host/",
        "http://",
        "http://h:99999/",
        "http://h/?a=b",
        "http://a b/",
    ],
)
def test_what_is_no_address_of_a_server_is_refused_at_once(url: str) -> None:
    with pytest.raises(UsageError, match="is not the http:// address"):
        TeiEmbedder(url)


def test_a_key_that_would_add_a_header_is_refused_and_not_shown() -> None:
    with pytest.raises(UsageError) as caught:
        TeiEmbedder("http://127.0.0.1:1", api_key="secret\r\nX-Evil: 1")
    assert "secret" not in str(caught.value)


def test_another_kind_of_server_is_noticed() -> None:
    with ScriptedServer(lambda _: Answer({"status": "ok"})) as server:
        embedder = TeiEmbedder(server.url)
        with pytest.raises(ServerFailed, match="is it a text-embeddings-inference server"):
            embedder.embed(["one"])
        embedder.close()


def test_a_sick_server_is_told_from_a_healthy_one(waits: Waits) -> None:
    sick = tei_error(503, "unhealthy", "Unhealthy")
    with ScriptedServer(in_turn("/health", [sick] * 4, as_tei)) as server:
        embedder = TeiEmbedder(server.url, client=patient(server.url, waits))
        with pytest.raises(ServerFailed, match="unhealthy"):
            embedder.check()
        embedder.check()
        embedder.close()


def test_ranks_come_back_in_the_order_of_the_texts() -> None:
    with ScriptedServer(as_tei) as server:
        reranker = TeiReranker(server.url)
        texts = ["nothing", "a cat", "the cat sat", "dogs", "sat", ""]
        scores = reranker.scores("the cat sat", texts)
        assert scores == OverlapReranker().scores("the cat sat", texts)
        questions = server.questions("/rerank")
        assert [len(question["texts"]) for question in questions] == [4, 2]
        assert questions[0] == {
            "query": "the cat sat",
            "texts": texts[:4],
            "truncate": True,
            "raw_scores": True,
        }
        assert reranker.scores("anything", []) == []
        assert reranker.model.startswith("thenlper/gte-base")
        reranker.close()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (tei_error(424, "model is not a re-ranker model", "Backend"), "not a re-ranker model"),
        (Answer([{"index": 0, "score": 1.0}]), "each of 2 texts once"),
        (Answer([{"index": 0, "score": 1.0}, {"index": 0, "score": 2.0}]), "each of 2 texts once"),
        (Answer([{"index": 1, "score": 1.0}, {"index": 2, "score": 2.0}]), "each of 2 texts once"),
        (Answer(b'[{"index": 0, "score": NaN}, {"index": 1, "score": 2.0}]'), "not a number"),
        (Answer(b'[{"index": 0, "score": null}, {"index": 1, "score": 2.0}]'), "list of ranks"),
        (Answer([1, 2]), "list of ranks"),
        (Answer(b""), "list of ranks"),
    ],
)
def test_ranks_that_make_no_sense_are_refused(answer: Answer, message: str) -> None:
    with ScriptedServer(in_turn("/rerank", [answer], as_tei)) as server:
        reranker = TeiReranker(server.url)
        with pytest.raises(ServerFailed, match=message):
            reranker.scores("query", ["a", "b"])
        reranker.close()


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_an_openai_server_is_asked_as_its_reference_says(ending: str) -> None:
    with ScriptedServer(as_openai) as server:
        embedder = OpenAiEmbedder(server.url + ending, "text-embedding-3-small", "sk-1")
        assert np.allclose(embedder.embed(TEXTS), expected(TEXTS), atol=1e-6)
        assert (embedder.model, embedder.dimension) == ("text-embedding-3-small", DIMENSION)
        assert embedder.tokens == 30
        [asked] = server.asked
        assert asked.path == "/v1/embeddings"
        assert asked.headers["Authorization"] == "Bearer sk-1"
        assert asked.question == {
            "model": "text-embedding-3-small",
            "input": TEXTS,
            "encoding_format": "float",
        }
        embedder.close()


def test_fewer_dimensions_are_asked_for_and_named() -> None:
    with ScriptedServer(as_openai) as server:
        embedder = OpenAiEmbedder(server.url, "text-embedding-3-small", dimensions=DIMENSION)
        assert embedder.model == f"text-embedding-3-small@{DIMENSION}"
        assert embedder.dimension == DIMENSION
        assert server.asked == []
        embedder.embed(["one"])
        assert server.asked[0].question["dimensions"] == DIMENSION
        assert "Authorization" not in server.asked[0].headers
        embedder.close()


def test_vectors_in_base64_are_read() -> None:
    def script(asked: Asked) -> Answer:
        answer = as_openai(asked)
        for item in answer.body["data"]:
            raw = np.array(item["embedding"], "<f4").tobytes()
            item["embedding"] = base64.b64encode(raw).decode()
        return answer

    with ScriptedServer(script) as server:
        embedder = OpenAiEmbedder(server.url, "toy", encoding="base64")
        assert np.array_equal(embedder.embed(TEXTS).round(5), expected(TEXTS).round(5))
        assert server.asked[0].question["encoding_format"] == "base64"
        embedder.close()


def test_a_text_too_long_for_the_model_is_cut_although_openai_refuses_it() -> None:
    def script(asked: Asked) -> Answer:
        longest = max(map(len, asked.question["input"]))
        if longest > 500:
            return openai_error(
                400,
                f"This model's maximum context length is 500 tokens, however you requested {longest}"
                " tokens. Please reduce your prompt.",
                "invalid_request_error",
            )
        return as_openai(asked)

    with ScriptedServer(script) as server:
        embedder = OpenAiEmbedder(server.url, "toy")
        vectors = embedder.embed(["short", "long " * 400, "also short"])
        assert np.allclose(vectors, expected(["short", "long", "also short"]), atol=1e-2)
        embedder.close()


def test_batches_stay_below_what_openai_takes() -> None:
    texts = ["word " * 2000] * 40 + TEXTS * 4
    with ScriptedServer(as_openai) as server:
        embedder = OpenAiEmbedder(server.url, "toy")
        assert embedder.embed(texts).shape == (80, DIMENSION)
        inputs = [question["input"] for question in server.questions("/v1/embeddings")]
        assert max(map(len, inputs)) == 32
        assert max(sum(map(len, batch)) for batch in inputs) <= 250_000
        embedder.close()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (openai_error(401, "Incorrect API key", "invalid_request_error"), "401: Incorrect API key"),
        (openai_error(404, "no such model", "invalid_request_error"), "404: no such model"),
        (
            openai_error(429, "exceeded your quota", "insufficient_quota", "insufficient_quota"),
            "429: exceeded your quota",
        ),
        (Answer({"message": "Inference failed", "type": "Backend", "code": 424}, 424), "Inference"),
        (Answer([]), "no data of embeddings"),
        (Answer({"data": [{"index": 0}]}), "no data of embeddings"),
        (Answer({"data": [{"index": 1, "embedding": [1.0]}]}), r"the indexes \[1\]"),
        (Answer({"data": []}), "not a list of vectors"),
        (Answer({"data": [{"index": 0, "embedding": "!!!"}]}), "not base64"),
        (Answer({"data": [{"index": 0, "embedding": "AAA="}]}), "not base64"),
        (Answer(b'{"data": [{"index": 0, "embedding": [NaN]}]}'), "NaN"),
    ],
)
def test_what_openai_refuses_is_told_and_not_asked_again(
    answer: Answer, message: str, waits: Waits
) -> None:
    with ScriptedServer(in_turn("/v1/embeddings", [answer], as_openai)) as server:
        embedder = OpenAiEmbedder(server.url, "toy", client=patient(server.url, waits))
        with pytest.raises(ServerFailed, match=message):
            embedder.embed(["one"])
        assert len(server.asked) == 1
        embedder.close()


def test_openais_rate_limit_is_waited_for(waits: Waits) -> None:
    limit = openai_error(429, "Rate limit reached", "requests", "rate_limit_exceeded")
    with ScriptedServer(in_turn("/v1/embeddings", [limit], as_openai)) as server:
        embedder = OpenAiEmbedder(server.url, "toy", client=patient(server.url, waits))
        assert embedder.embed(["one"]).shape == (1, DIMENSION)
        assert len(waits.seconds) == 1
        embedder.close()


def test_a_model_must_be_named() -> None:
    with pytest.raises(UsageError, match="name of a model"):
        OpenAiEmbedder("http://127.0.0.1:1", "")


@pytest.fixture(scope="module")
def ours() -> Iterator[str]:
    with our_service(HashEmbedder(), reranker=OverlapReranker(), max_batch=4) as url:
        yield url


def test_our_own_service_is_a_tei_server_to_the_client(ours: str) -> None:
    embedder = TeiEmbedder(ours)
    embedder.check()
    assert np.allclose(embedder.embed(TEXTS), expected(TEXTS), atol=1e-6)
    assert (embedder.model, embedder.dimension) == ("hash-16", DIMENSION)
    with pytest.raises(ServerFailed, match="answers 424: Inference failed"):
        embedder.embed(["poison"])
    embedder.close()


def test_our_own_service_ranks_for_the_client(ours: str) -> None:
    reranker = TeiReranker(ours)
    texts = ["nothing", "a cat", "the cat sat", "dogs", "sat", " "]
    assert reranker.scores("the cat sat", texts) == pytest.approx(
        OverlapReranker().scores("the cat sat", texts)
    )
    reranker.close()


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_our_own_service_is_an_openai_server_to_the_client(ours: str, encoding: str) -> None:
    embedder = OpenAiEmbedder(ours + "/v1", "hash-16", encoding=encoding)
    assert np.allclose(embedder.embed(TEXTS), expected(TEXTS), atol=1e-6)
    assert embedder.tokens > 0
    with pytest.raises(ServerFailed, match="answers 500: Inference failed"):
        embedder.embed(["poison"])
    embedder.close()


def test_the_published_info_has_the_fields_of_ours(ours: str) -> None:
    client = JsonClient(ours)
    assert client.get("/info").keys() == INFO.keys()
    client.close()
