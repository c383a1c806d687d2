"""A web server on this machine that serves files well or badly, and remembers what it was asked."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """What is served: content by path, and how.

    Args:
        files: Content by path, such as ``{"/a.pt": b"..."}``.
        cuts: After how many bytes the connection of each successive answer is cut; ``None`` for not at all.
        version: Header that names the version, such as ``("ETag", '"1"')``.
        ranges: Whether parts of a file are served.
        redirects: Address by path.
        silent: Whether no question is answered.
        edition: Files and version from the second question on.
    """

    def __init__(
        self, files, *, cuts=(), version=("ETag", '"1"'), ranges=True, redirects=None, silent=False, edition=None
    ):
        self.files, self.cuts, self.version, self.ranges = dict(files), list(cuts), version, ranges
        self.redirects, self.silent, self.edition = redirects or {}, silent, edition
        self.asked, self.url, self.released = [], "", threading.Event()


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments):
            pass

        def do_GET(self):
            site.asked.append((self.path, self.headers.get("Range"), self.headers.get("If-Range")))
            self.close_connection = True
            if site.edition and len(site.asked) > 1:
                site.files, site.version = site.edition
            if site.silent:
                site.released.wait(20)
                return
            if self.path in site.redirects:
                self.send_response(302)
                self.send_header("Location", site.redirects[self.path])
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            content = site.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            start, version = 0, site.version[1] if site.version else None
            wanted = self.headers.get("Range")
            if wanted and site.ranges and self.headers.get("If-Range") == version:
                start = int(wanted.removeprefix("bytes=").removesuffix("-"))
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            else:
                self.send_response(200)
            if site.version:
                self.send_header(*site.version)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            cut = site.cuts.pop(0) if site.cuts else None
            self.wfile.write(content[start:] if cut is None else content[start : start + cut])

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
