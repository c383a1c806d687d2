"""Files from the web: fetched whole, checked against what was seen first, and never half-written."""

import hashlib
import json
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException, HTTPMessage, HTTPResponse
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from ghr.files import making_folder, replacing, write_text
from ghr.progress import make_bar

CONNECT_SECONDS = 8.0  # until an answer begins: looking up the name, connecting and redirects together
READ_SECONDS = 30.0  # between two pieces of an answer
ATTEMPTS = 5  # in a row that bring nothing new
PAUSE_SECONDS = 1.0
CHUNK = 1 << 20
LOOPBACK = ("127.0.0.1", "::1", "localhost")

logger = logging.getLogger(__name__)


def download(
    url: str, path: str | Path, *, sha256: str | None = None, check: Callable[[Path], object] | None = None
) -> Path:
    """Fetch a file once, and make sure at every later use that it is still the same file.

    Size and SHA-256 are recorded on first use in a file beside it (``data.pt.json``). Later the file is only compared
    with the record; if it differs it is fetched again, and refused where the new one differs from the record too. A
    file that was put there by hand is recorded in the same way, so a machine without a connection can be supplied.

    A transfer that is cut goes on where it was if the server names a version of the file, and starts again otherwise.
    The file takes its name only when it is complete and accepted.

    Args:
        url: Address beginning with ``https://``. Plain ``http`` is taken from this machine only: what never leaves it
            cannot be changed on the way.
        path: Where the file goes; its folder is made.
        sha256: Expected hash in hexadecimal digits; by default the recorded one, or any on first use.
        check: Called with a new file before it takes its name; raises a ``ValueError`` to refuse it.

    Raises:
        ConnectionError: Where the file cannot be had, within seconds if there is no connection.
        ValueError: Where the address, the hash or the content is not acceptable.
    """
    _check_address(url, local=True)
    path = Path(path)
    record = path.with_name(f"{path.name}.json")
    known = _read_record(record)
    expected = known.get("sha256") if sha256 is None else sha256.lower()
    if path.exists():
        found = _measure(path)
        if expected in (None, found["sha256"]):
            if known != known | found:
                write_text(record, _dumps(known | found))
            return path
        logger.warning("%s has the SHA-256 %s instead of %s; it is fetched again.", path, found["sha256"], expected)
    try:
        with making_folder(path.parent), replacing(path) as temporary:
            _fetch(url, temporary)
            found = _measure(temporary)
            if expected not in (None, found["sha256"]):
                raise ValueError(
                    f"The file at {url} has the SHA-256 {found['sha256']} instead of {expected}, so it was changed or "
                    f"damaged; if the new one is to be trusted, delete {record}."
                )
            if check is not None:
                check(temporary)
    except _Unavailable as error:
        raise ConnectionError(f"Could not download {url}: {error}.") from error
    write_text(record, _dumps({"url": url} | found))
    return path


class _Unavailable(Exception):  # noqa: N818 (not an OSError, which would be taken for a failure to write)
    """Why a file cannot be had, as the end of a sentence."""


class _Redirects(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Follow only to where the first request could have gone; nobody else may send us to this machine."""
        _check_address(newurl, local=_is_local(req.full_url))
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _is_local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname in LOOPBACK


def _check_address(url: str, *, local: bool) -> None:
    parts = urlsplit(url)
    if not ((parts.scheme == "https" and parts.hostname) or (local and _is_local(url))):
        raise ValueError(f"Files are fetched over https only, but the address is {url!r}.")


def _fetch(url: str, temporary: Path) -> None:
    opener = build_opener(_Redirects, *([ProxyHandler({})] if _is_local(url) else []))
    version, furthest, failures = "", 0, 0
    with (
        open(temporary, "wb") as file,
        make_bar(url.rsplit("/", 1)[-1], None, unit="B", scale=True) as bar,
    ):
        while True:
            try:
                with _ask(opener, url, file.tell(), version) as answer:
                    start, total = _extent(answer)
                    if start != file.tell():
                        file.seek(start)
                        file.truncate()
                    version = _version(answer)
                    bar.total = total
                    for chunk in _chunks(answer):
                        file.write(chunk)
                        bar.n = file.tell()
                        bar.update(0)
                if total in (None, file.tell()):
                    return
                reason = f"the connection was cut after {file.tell()} of {total} bytes"
            except _Unavailable as error:
                if not furthest and not file.tell():
                    raise
                reason = str(error)
            failures = 0 if file.tell() > furthest else failures + 1
            if failures >= ATTEMPTS:
                raise _Unavailable(reason)
            furthest = max(furthest, file.tell())
            if not version:  # what comes next might belong to another file
                file.seek(0)
                file.truncate()
            time.sleep(PAUSE_SECONDS)


def _ask(opener: OpenerDirector, url: str, position: int, version: str) -> HTTPResponse:
    """Request a file from a position on; the time until the answer begins is limited as a whole."""
    headers = {"User-Agent": "ghr"}
    if position:
        headers |= {"Range": f"bytes={position}-", "If-Range": version}
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(opener.open(Request(url, headers=headers), timeout=READ_SECONDS))
        except Exception as error:
            answers.put(error)

    # A thread, because looking up a name cannot be limited, and connecting tries every address of the host in turn.
    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=CONNECT_SECONDS)
    except queue.Empty:
        raise _Unavailable(f"no answer within {CONNECT_SECONDS:g} seconds") from None
    if isinstance(answer, HTTPError):
        raise _Unavailable(f"the server answered {answer.code} {answer.reason}") from answer
    if isinstance(answer, URLError):
        raise _Unavailable(f"no connection ({answer.reason})") from answer
    if isinstance(answer, (OSError, HTTPException)):
        raise _Unavailable(f"no connection ({str(answer) or type(answer).__name__})") from answer
    if isinstance(answer, Exception):
        raise answer
    assert isinstance(answer, HTTPResponse)
    return answer


def _extent(answer: HTTPResponse) -> tuple[int, int | None]:
    """Where the answer's body begins in the file, and the size of the file."""
    if answer.status == 206:
        begin, _, total = answer.headers.get("Content-Range", "").removeprefix("bytes ").partition("/")
        try:
            return int(begin.partition("-")[0]), int(total)
        except ValueError:
            raise _Unavailable(f"the server sent the range {begin!r} of {total!r}") from None
    if answer.length is None and not answer.chunked:
        raise _Unavailable("the server does not say where the file ends, so a cut could not be noticed")
    return 0, answer.length


def _version(answer: HTTPResponse) -> str:
    tag: str = answer.headers.get("ETag") or ""
    return answer.headers.get("Last-Modified") or "" if not tag or tag.startswith("W/") else tag


def _chunks(answer: HTTPResponse) -> Iterator[bytes]:
    while True:
        try:
            chunk = answer.read(CHUNK)
        except (OSError, HTTPException) as error:
            raise _Unavailable(f"the connection was cut ({str(error) or type(error).__name__})") from error
        if not chunk:
            return
        yield chunk


def _measure(path: Path) -> dict[str, Any]:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return {"size": path.stat().st_size, "sha256": digest.hexdigest()}


def _read_record(record: Path) -> dict[str, Any]:
    if not record.exists():
        return {}
    try:
        known = json.loads(record.read_text())
        if not isinstance(known["sha256"], str):
            raise TypeError(f"sha256 is {known['sha256']!r}")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{record} is not a record of a download ({error}); delete it to trust the file as it is."
        ) from error
    return dict(known)


def _dumps(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, sort_keys=True) + "\n"
