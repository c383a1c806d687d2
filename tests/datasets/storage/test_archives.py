import io
import tarfile
import zipfile

import pytest

from ghr.datasets.storage.archives import check_members, fetch, members, unpack
from local_server import Site, serving

CONTENT = {"a/one.pt": b"first", "a/two.pt": b"second", "../outside": b"never unpacked"}


def zipped(path):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in CONTENT.items():
            archive.writestr(name, content)
    return path


def tarred(path):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in CONTENT.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        link = tarfile.TarInfo("a/link.pt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return path


@pytest.fixture(params=[zipped, tarred])
def archive(request, tmp_path):
    return request.param(tmp_path / "archive")


def test_only_the_named_members_are_unpacked(archive):
    assert members(archive) == list(CONTENT)
    with unpack(archive, ["a/two.pt", "../outside"]) as copies:
        assert {name: copy.read_bytes() for name, copy in copies.items()} == {
            name: CONTENT[name] for name in ("a/two.pt", "../outside")
        }
        folders = {copy.parent for copy in copies.values()}
        assert len(folders) == 1
        assert len(list(folders.pop().iterdir())) == 2
    assert not any(copy.exists() for copy in copies.values())
    assert [path.name for path in archive.parent.iterdir()] == ["archive"]


def test_missing_members_and_links_are_named(archive):
    with (
        pytest.raises(ValueError, match=r"has no a/link\.pt, b; it has a/one\.pt"),
        unpack(archive, ["b", "a/link.pt"]),
    ):
        pass


def test_other_and_damaged_files_are_refused(archive):
    whole = archive.read_bytes()
    for content in (b"", b"<html>Sign in</html>", whole[: len(whole) // 2]):
        archive.write_bytes(content)
        with pytest.raises(ValueError, match="is not a zip or tar file, or is damaged"):
            check_members(archive)


def test_archives_are_fetched_and_the_way_out_is_named(archive, tmp_path):
    with serving(Site({"/a": archive.read_bytes()})) as site:
        path = fetch(f"{site.url}/a", tmp_path / "new" / "a.zip", offline="Stay at home.")
        assert path.read_bytes() == archive.read_bytes()
        with pytest.raises(
            ConnectionError, match=r"404 .* Stay at home\. A copy of the file can also be put at .*b\.zip"
        ):
            fetch(f"{site.url}/b", tmp_path / "b.zip", offline="Stay at home.")
        site.files["/c"] = b"<html>Sign in</html>"
        with pytest.raises(ValueError, match="is not a zip or tar file"):
            fetch(f"{site.url}/c", tmp_path / "c.zip", offline="")
    assert not (tmp_path / "c.zip").exists()
