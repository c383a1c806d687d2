import hashlib
import json
import os
import random
import socket

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghr.datasets.storage import download as module
from ghr.datasets.storage.download import download
from local_server import Site, serving

CONTENT = random.Random(0).randbytes(300_000)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)


def record_of(path):
    return json.loads(path.with_name(f"{path.name}.json").read_text())


def test_file_is_fetched_once_and_recorded(tmp_path):
    path = tmp_path / "new" / "a.pt"
    with serving(Site({"/a.pt": CONTENT})) as site:
        assert download(f"{site.url}/a.pt", path) == path
        assert download(f"{site.url}/a.pt", path) == path
    assert path.read_bytes() == CONTENT
    assert site.asked == [("/a.pt", None, None)]
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert record_of(path) == {"url": f"{site.url}/a.pt", "size": len(CONTENT), "sha256": digest}
    assert sorted(os.listdir(path.parent)) == ["a.pt", "a.pt.json"]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cuts=st.lists(st.integers(0, 299_999), max_size=4),
    ranges=st.booleans(),
    version=st.sampled_from([("ETag", '"1"'), ("ETag", 'W/"1"'), ("Last-Modified", "Mon, 01 Jan 2024"), None]),
)
def test_any_cuts_give_the_same_file(tmp_path_factory, cuts, ranges, version):
    path = tmp_path_factory.mktemp("cuts") / "a.pt"
    first_says_nothing = bool(cuts) and cuts[0] == 0
    with serving(Site({"/a.pt": CONTENT}, cuts=cuts, ranges=ranges, version=version)) as site:
        if first_says_nothing:
            cuts[0] = site.cuts[0] = 1
        download(f"{site.url}/a.pt", path)
    assert path.read_bytes() == CONTENT


def test_a_cut_transfer_goes_on_where_it_was(tmp_path):
    with serving(Site({"/a.pt": CONTENT}, cuts=[100_000, 50_000])) as site:
        download(f"{site.url}/a.pt", tmp_path / "a.pt")
    assert site.asked[1:] == [("/a.pt", "bytes=100000-", '"1"'), ("/a.pt", "bytes=150000-", '"1"')]


def test_a_file_changed_between_two_parts_is_not_mixed(tmp_path):
    edition = {"/a.pt": CONTENT[::-1]}, ("ETag", '"2"')
    with serving(Site({"/a.pt": CONTENT}, cuts=[100_000], edition=edition)) as site:
        download(f"{site.url}/a.pt", tmp_path / "a.pt")
    assert (tmp_path / "a.pt").read_bytes() == CONTENT[::-1]
    assert site.asked[1] == ("/a.pt", "bytes=100000-", '"1"')


@pytest.mark.parametrize("version", [("ETag", '"1"'), None])
def test_a_server_that_always_cuts_is_given_up(tmp_path, version):
    with (
        serving(Site({"/a.pt": CONTENT}, cuts=[1000] + [0] * 50, version=version)) as site,
        pytest.raises(ConnectionError, match=r"Could not download http://127.*: the connection was cut after"),
    ):
        download(f"{site.url}/a.pt", tmp_path / "a.pt")
    assert os.listdir(tmp_path) == []
    assert len(site.asked) <= module.ATTEMPTS + 2


def test_a_file_that_is_not_there_is_said(tmp_path):
    with serving(Site({})) as site, pytest.raises(ConnectionError, match="the server answered 404 Not Found"):
        download(f"{site.url}/a.pt", tmp_path / "a.pt")
    assert len(site.asked) == 1
    assert os.listdir(tmp_path) == []


def test_no_connection_is_said_at_once(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        port = unused.getsockname()[1]
        with pytest.raises(ConnectionError, match=r"no connection \(.*refused"):
            download(f"http://127.0.0.1:{port}/a.pt", tmp_path / "a.pt")


def test_a_server_that_never_answers_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CONNECT_SECONDS", 0.2)
    with serving(Site({}, silent=True)) as site, pytest.raises(ConnectionError, match=r"no answer within 0\.2 seconds"):
        download(f"{site.url}/a.pt", tmp_path / "a.pt")


@pytest.mark.parametrize(
    "url",
    ["http://example.org/a", "file:///etc/hosts", "ftp://127.0.0.1/a", "https:///a", "http://127.0.0.1.evil/a", "a"],
)
def test_other_addresses_are_refused(tmp_path, url):
    with pytest.raises(ValueError, match="over https only, but the address is"):
        download(url, tmp_path / "a.pt")


def test_redirects_are_followed_within_the_rule(tmp_path):
    with serving(Site({"/b": CONTENT}, redirects={"/a": "/b", "/out": "http://example.org/a"})) as site:
        download(f"{site.url}/a", tmp_path / "a")
        with pytest.raises(ValueError, match=r"the address is 'http://example\.org/a'"):
            download(f"{site.url}/out", tmp_path / "out")
    assert (tmp_path / "a").read_bytes() == CONTENT


def test_nobody_else_may_send_us_to_this_machine():
    handler = module._Redirects()
    request = module.Request("https://example.org/a")
    with pytest.raises(ValueError, match="over https only"):
        handler.redirect_request(request, None, 302, "Found", {}, "http://127.0.0.1/a")
    assert handler.redirect_request(request, None, 302, "Found", {}, "https://cdn.example.org/a") is not None


def test_a_changed_file_is_fetched_again(tmp_path, caplog):
    path = tmp_path / "a.pt"
    with serving(Site({"/a.pt": CONTENT})) as site:
        download(f"{site.url}/a.pt", path)
        path.write_bytes(CONTENT[:-1])
        download(f"{site.url}/a.pt", path)
    assert path.read_bytes() == CONTENT
    assert "it is fetched again" in caplog.text


def test_a_file_replaced_by_its_publisher_is_refused_until_the_record_goes(tmp_path):
    path = tmp_path / "a.pt"
    with serving(Site({"/a.pt": CONTENT})) as site:
        download(f"{site.url}/a.pt", path)
        path.unlink()
        site.files["/a.pt"] = b"other"
        with pytest.raises(ValueError, match=r"so it was changed or damaged; .* delete .*a\.pt\.json"):
            download(f"{site.url}/a.pt", path)
        assert os.listdir(tmp_path) == ["a.pt.json"]
        (tmp_path / "a.pt.json").unlink()
        download(f"{site.url}/a.pt", path)
    assert path.read_bytes() == b"other"


def test_an_expected_hash_is_asked_of_files_new_and_old(tmp_path):
    good, path = hashlib.sha256(CONTENT).hexdigest(), tmp_path / "a.pt"
    with serving(Site({"/a.pt": CONTENT})) as site:
        with pytest.raises(ValueError, match=f"instead of {'0' * 64}"):
            download(f"{site.url}/a.pt", path, sha256="0" * 64)
        assert not path.exists()
        path.write_bytes(b"made by hand, wrongly")
        download(f"{site.url}/a.pt", path, sha256=good.upper())
    assert path.read_bytes() == CONTENT


def test_a_file_put_there_by_hand_needs_no_connection(tmp_path):
    path = tmp_path / "a.pt"
    path.write_bytes(CONTENT)
    download("https://example.invalid/a.pt", path)
    assert record_of(path)["sha256"] == hashlib.sha256(CONTENT).hexdigest()


def test_a_refused_file_leaves_nothing(tmp_path):
    def refuse(path):
        assert path.read_bytes() == CONTENT
        raise ValueError("This is not what was wanted.")

    with serving(Site({"/a.pt": CONTENT})) as site, pytest.raises(ValueError, match="not what was wanted"):
        download(f"{site.url}/a.pt", tmp_path / "a.pt", check=refuse)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"sha256": 3}'])
def test_an_unusable_record_is_said(tmp_path, text):
    (tmp_path / "a.pt.json").write_text(text)
    with pytest.raises(ValueError, match=r"a\.pt\.json is not a record of a download .* delete it"):
        download("https://example.invalid/a.pt", tmp_path / "a.pt")
