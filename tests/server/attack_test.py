"""Who has no business with the page gets nothing, and the server lives."""
import contextlib
import http.client
import json
import os
import pathlib
import resource
import socket
import tempfile
import unittest

import viewer
from viewer import received, status_of


class Refused(viewer.ViewerCase):

    def lives(self):
        self.assertEqual(self.viewer.get("api/session")[0], 200)

    def refuses(self, status, **fields):
        self.assertEqual(self.viewer.get("api/session", **fields)[0], status, fields)

    def request(self, *lines):
        return "\r\n".join([f"GET /{self.viewer.token}/api/session HTTP/1.1", "Host: 127.0.0.1", *lines, "", ""]).encode()

    def test_without_the_token_there_is_nothing(self):
        for token in ("", "0" * 32, self.viewer.token[:-1], self.viewer.token + "0", self.viewer.token.upper()):
            if token == self.viewer.token:
                continue
            for path in ("", "api/session", "assets/app.js"):
                status, _, body = self.viewer.get(path, token=token)
                self.assertIn(status, (400, 404), (token, path))
                self.assertNotIn(b"fathom-view", body)
                self.assertNotIn(self.viewer.token.encode(), body)
        self.assertEqual(status_of(self.viewer.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")), 404)
        self.lives()

    def test_a_name_that_was_rebound_to_loopback_is_refused(self):
        for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example:1", "", "[::2]",
                     "127.0.0.1@evil.example", "127.0.0.1:1:2"):
            answer = self.viewer.raw(
                f"GET /{self.viewer.token}/api/session HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            self.assertIn(status_of(answer), (400, 403), host)
        two = self.request("Host: evil.example")
        self.assertEqual(status_of(self.viewer.raw(two)), 400)
        none = f"GET /{self.viewer.token}/ HTTP/1.1\r\n\r\n".encode()
        self.assertEqual(status_of(self.viewer.raw(none)), 400)
        self.lives()

    def test_loopback_by_any_of_its_names_and_ports_is_answered(self):
        for host in ("127.0.0.1", "localhost", "LOCALHOST:9999", "[::1]", "[::1]:8080", "127.0.0.1:1"):
            self.refuses(200, Host=host)

    def test_the_other_loopback_is_answered_with_the_same_rules(self):
        try:
            connected = socket.create_connection(("::1", self.viewer.port), timeout=viewer.WAIT)
        except OSError as error:
            with socket.socket(socket.AF_INET6) as any_port:
                with self.assertRaises(OSError, msg=f"this machine has ::1, but: {error}"):
                    any_port.bind(("::1", 0))
            self.skipTest("this machine has no ::1")
        connected.close()

        def get(host, token=self.viewer.token, **fields):
            connection = http.client.HTTPConnection("::1", self.viewer.port, timeout=viewer.WAIT)
            headers = {"Host": host, **{name.replace("_", "-"): value for name, value in fields.items()}}
            connection.request("GET", f"/{token}/api/session", headers=headers)
            response = connection.getresponse()
            with contextlib.closing(connection):
                return response.status, response.read()

        self.viewer.session()  # it is read
        own = f"[::1]:{self.viewer.port}"
        status, body = get(own)
        self.assertEqual(status, 200)
        self.assertIn("digest", json.loads(body))
        self.assertEqual(get(own, Origin=f"http://{own}")[0], 200)
        self.assertEqual(get(own, token="0" * 32)[0], 404)
        self.assertEqual(get("evil.example")[0], 403)
        self.assertEqual(get(own, Origin="http://evil.example")[0], 403)
        self.assertEqual(get(own, Sec_Fetch_Site="cross-site")[0], 403)

    def test_pages_of_other_origins_are_refused(self):
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1", f"https://127.0.0.1:{self.viewer.port}"):
            self.refuses(403, Origin=origin)
        self.refuses(200, Origin=f"http://127.0.0.1:{self.viewer.port}")
        for site in ("cross-site", "same-site", "", "Same-Origin"):
            self.refuses(403, Sec_Fetch_Site=site)
        self.refuses(200, Sec_Fetch_Site="same-origin")
        self.refuses(200, Sec_Fetch_Site="none")

    def test_paths_lead_nowhere(self):
        for path in ("..%2f..%2fetc%2fpasswd", "../../etc/passwd", "assets/../../etc/passwd", "assets/%2e%2e/x", "assets//app.js",
                     "assets/.hidden", "%00", "api/session%00", "api/reports/../session", "assets/app.js/", "api", "api/nothing"):
            status, _, body = self.viewer.get(path)
            self.assertIn(status, (400, 404), path)
            self.assertNotIn(b"root:", body)
        self.lives()

    def test_parameters_that_make_no_sense_are_refused(self):
        self.viewer.session()
        digest = self.viewer.ask("api/session")["digest"]
        for path in ("api/session?a=%", "api/session?a=%zz", "api/session?a=%00", "api/reports/ops?limit=-1",
                     "api/reports/ops?nothing=1", "api/reports/ops?sort=nothing", "api/reports/roofline?peaks=/etc/passwd",
                     "api/reports/lines?source-root=/etc",
                     "api/diagnosis?peaks=/etc/passwd", "api/diagnosis?steps=x", "api/diagnosis?html=/tmp/x",
                     "api/whatif", "api/whatif?scale=nothing%3D1", "api/whatif?peaks=/etc/passwd&remove-syncs=1",
                     f"api/tiles/{digest}?level=99&tile=0", f"api/tiles/{digest}?level=50&tile=9223372036854775807",
                     f"api/tiles/{digest}", f"api/tiles/{digest}?level=0&tile=0&tracks=x", "api/counters?track=0&bins=-1",
                     "api/selection?begin=5&end=4", "api/accounting?device=77", "api/slice?id=-1"):
            status, _, body = self.viewer.get(path)
            self.assertIn(status, (400, 404), path)
            self.assertIn("message", json.loads(body)["error"], path)
        for path in ("api/slice?id=4294967295", "api/session?input=7", "api/tiles/0?level=1&tile=0",
                     f"api/tiles/{digest}?level=1&tile=0&tracks=100000", "api/reports/nothing", "api/explain?id=nothing-at-all"):
            self.assertEqual(self.viewer.get(path)[0], 404, path)
        self.lives()

    def test_only_what_asks_is_answered(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "NOTHING"):
            self.assertIn(self.viewer.get("api/session", method=method)[0], (400, 405), method)
        status, fields, body = self.viewer.get("api/session", method="HEAD")
        self.assertEqual((status, body), (200, b""))
        self.assertGreater(int(fields["Content-Length"]), 0)

    def test_long_headers_are_refused(self):
        for lines in (["X: " + "a" * 9000], [f"X{i}: 1" for i in range(2000)], ["X: " + "a" * (1 << 20)]):
            self.assertEqual(status_of(self.viewer.raw(self.request(*lines))), 431)
        long_target = b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
        self.assertIn(status_of(self.viewer.raw(long_target)), (400, 414, 431))
        self.lives()

    def test_bodies_in_chunks_and_upgrades_are_refused(self):
        chunked = self.request("Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n"
        self.assertEqual(status_of(self.viewer.raw(chunked)), 501)
        both = self.request("Transfer-Encoding: chunked", "Content-Length: 3")
        self.assertIn(status_of(self.viewer.raw(both)), (400, 501))
        upgrade = self.request("Connection: Upgrade", "Upgrade: websocket")
        self.assertEqual(status_of(self.viewer.raw(upgrade)), 501)
        self.assertEqual(status_of(self.viewer.raw(self.request("Expect: 100-continue"))), 417)
        large = self.request("Content-Length: 1000000000000")
        self.assertEqual(status_of(self.viewer.raw(large)), 413)
        for length in ("-1", "1x", "99999999999999999999999999"):
            self.assertEqual(status_of(self.viewer.raw(self.request("Content-Length: " + length))), 400, length)
        self.lives()

    def test_what_is_no_request_is_refused(self):
        for content in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\x00" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                        b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", b"GET / HTTP/1.1\nHost: localhost\n\n",
                        b"GET / HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n\x00"):
            status = status_of(self.viewer.raw(content))
            self.assertTrue(status is None or 400 <= status < 500, (content, status))
        self.lives()

    def test_requests_that_come_together_are_answered_in_order(self):
        one = self.request()
        last = self.request("Connection: close")
        answer = self.viewer.raw(one * 5 + last)
        self.assertEqual(answer.count(b"HTTP/1.1 200 OK"), 6)

    def test_many_connections_wait_their_turn(self):
        connections = []
        for _ in range(500):
            try:
                connections.append(socket.create_connection(("127.0.0.1", self.viewer.port), timeout=2))
            except OSError:
                break  # the system's own queue is full
        self.assertGreater(len(connections), 32)
        self.lives()
        for connection in connections:
            connection.close()
        self.lives()

    def test_ten_thousand_connections_are_answered_around(self):
        wanted = 10_000
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < wanted + 200:
            self.skipTest(f"a process may have {hard} files open here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted + 200), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        connections = [socket.socket() for _ in range(wanted)]
        with contextlib.ExitStack() as open_ones:
            for i, connection in enumerate(connections):
                open_ones.enter_context(connection)
                connection.setblocking(False)
                connection.connect_ex(("127.0.0.1", self.viewer.port))
                if i % 1000 == 999:
                    # Some ask, some begin to, most say nothing.
                    for some, content in ((connections[i - 1], self.request()), (connections[i - 2], b"GET /")):
                        with contextlib.suppress(OSError):
                            some.send(content)
            files = len(os.listdir(f"/proc/{self.viewer.process.pid}/fd"))
            self.assertLess(files, 100, "32 are served at a time, the rest wait in the system's queue")
            # One that says nothing for a moment may have to make way; a browser asks again then.
            for _ in range(9):
                with contextlib.suppress(http.client.RemoteDisconnected, ConnectionResetError):
                    self.lives()
                    break
            else:
                self.lives()
        self.lives()

    def test_every_answer_says_what_a_browser_may_do(self):
        for path in ("", "assets/app.js", "api/session", "api/nothing", "..%2f"):
            fields = self.viewer.get(path)[1]
            self.assertIn("default-src 'none'", fields["Content-Security-Policy"])
            self.assertIn("frame-ancestors 'none'", fields["Content-Security-Policy"])
            self.assertEqual(fields["X-Content-Type-Options"], "nosniff")
            self.assertEqual(fields["Referrer-Policy"], "no-referrer")
            self.assertEqual(fields["Cross-Origin-Opener-Policy"], "same-origin")
            self.assertEqual(fields["Cross-Origin-Resource-Policy"], "same-origin")
            self.assertIsNone(fields["Access-Control-Allow-Origin"])
            self.assertEqual(fields["Cache-Control"], "no-store")


class Slow(unittest.TestCase):

    def test_a_request_that_does_not_arrive_is_ended(self):
        server = viewer.Viewer("--request-timeout", "20ms", "tests/data/traces/hta_alexnet.json.gz")
        self.addCleanup(server.end)
        for content in (b"", b"G", b"GET / HTTP/1.1\r\nHost: loc"):
            with server.connect() as connection:
                connection.sendall(content)
                answer = received(connection)  # until the server closes
            self.assertIn(status_of(answer), (None, 408) if content == b"" else (408,))
        self.assertEqual(server.get("api/session")[0], 200)


class HostileNames(unittest.TestCase):

    def test_names_stay_text(self):
        name = "<img src=x onerror=alert(1)></script>\u202e\u0000'\""
        events = [{"ph": "X", "name": name, "cat": "cpu_op", "pid": 1, "tid": name, "ts": 1.0, "dur": 5.0, "args": {name: name}}]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "<img onerror=x>.json"
            path.write_text(json.dumps({"traceEvents": events}))
            server = viewer.Viewer(path)
            self.addCleanup(server.end)
            server.session()
            for route in ("api/session", "api/tracks", "api/names", "api/slice?id=0", "api/selection", "api/search?q=img", "api/flame",
                          "api/reports/ops", "api/diagnosis"):
                status, fields, body = server.get(route)
                self.assertEqual(status, 200, route)
                self.assertEqual(fields["Content-Type"], "application/json")
                json.loads(body)
            self.assertIn("<img", server.ask("api/slice?id=0")["name"])


if __name__ == "__main__":
    unittest.main()
