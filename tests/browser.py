#!/usr/bin/python3
"""Drives a headless Chromium over its debugging pipe (file descriptors 3 and 4), with the standard library alone.

    with Browser() as b:
        page = b.open("/path/report.html", width=1400, height=900, dark=False)
        page.js("document.title")
        page.mouse("mouseMoved", 10, 20)
        page.shot("shot.png")
        page.errors, page.requests
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


class Failure(Exception):
    pass


class Browser:
    def __init__(self):
        program = next((p for p in PROGRAMS if shutil.which(p)), None)
        if not program:
            raise FileNotFoundError("no Chromium: tools/setup --tests installs it")
        self.profile = tempfile.mkdtemp(prefix="spot_browser_")
        to_read, self.to = os.pipe()
        self.of, of_write = os.pipe()

        def wire():
            a, b = os.dup(to_read), os.dup(of_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
             "--force-color-profile=srgb", "--user-data-dir=" + self.profile, "--remote-debugging-pipe", "about:blank"],
            preexec_fn=wire, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, HOME=self.profile))
        os.close(to_read)
        os.close(of_write)
        self.next, self.buffer, self.pages = 0, b"", {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", timeout=5)
        except (Failure, OSError):
            pass
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.of], [], [], left)[0]:
                raise Failure("Chromium did not answer in time")
            more = os.read(self.of, 1 << 20)
            if not more:
                raise Failure("Chromium is gone")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        if "method" in message:
            page = self.pages.get(message.get("sessionId"))
            if page:
                page.hear(message["method"], message["params"])
        return message

    def call(self, method, params=None, session=None, timeout=60):
        self.next += 1
        message = {"id": self.next, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until, mine = time.monotonic() + timeout, self.next
        while True:
            answer = self.receive(until)
            if answer.get("id") == mine:
                if "error" in answer:
                    raise Failure("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]

    def open(self, path, width=1400, height=900, dark=False, ratio=1, timeout=60):
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self.pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(domain + ".enable")
        page.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": False})
        page.call("Emulation.setEmulatedMedia",
                  {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        page.began = time.monotonic()
        page.call("Page.navigate", {"url": "file://" + os.path.abspath(path)})
        page.wait("document.documentElement?.dataset.ready === '1'", timeout)
        page.seconds = time.monotonic() - page.began
        return page


class Page:
    def __init__(self, browser, session):
        self.browser, self.session, self.errors, self.requests, self.seconds = browser, session, [], [], 0

    def call(self, method, params=None, timeout=60):
        return self.browser.call(method, params, self.session, timeout)

    def hear(self, method, params):
        if method == "Runtime.exceptionThrown":
            d = params["exceptionDetails"]
            self.errors.append(d.get("exception", {}).get("description") or d.get("text"))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            if "willReadFrequently" not in params["entry"]["text"]:        # of tests that look at pixels
                self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def js(self, code, timeout=60):
        r = self.call("Runtime.evaluate", {"expression": code, "awaitPromise": True, "returnByValue": True}, timeout)
        if "exceptionDetails" in r:
            d = r["exceptionDetails"]
            raise Failure("%s: %s" % (code, d.get("exception", {}).get("description") or d["text"]))
        return r["result"].get("value")

    def wait(self, condition, timeout=20):
        until = time.monotonic() + timeout
        while not self.js(condition):
            if time.monotonic() > until:
                raise Failure("it never came to be that %s; errors: %s" % (condition, self.errors[:3]))
            time.sleep(0.01)

    def frames(self, n=2):
        """Waits until n more frames are painted, so that what was asked for is on the screen."""
        self.js("new Promise(r => { let n = %d; const f = () => n-- ? requestAnimationFrame(f) : r(); f(); })" % n)

    def mouse(self, kind, x, y, button="none", buttons=0, modifiers=0, **more):
        self.call("Input.dispatchMouseEvent", dict(type=kind, x=x, y=y, button=button, buttons=buttons, modifiers=modifiers,
                                                   clickCount=1 if button != "none" else 0, **more))

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, "left", 1)
        self.mouse("mouseReleased", x, y, "left")

    def drag(self, points, modifiers=0):
        self.mouse("mouseMoved", *points[0], modifiers=modifiers)
        self.mouse("mousePressed", *points[0], "left", 1, modifiers)
        for x, y in points[1:]:
            self.mouse("mouseMoved", x, y, "left", 1, modifiers)
        self.mouse("mouseReleased", *points[-1], "left", 0, modifiers)

    def key(self, key, code=0, text=None):
        event = {"key": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", dict(event, type="keyDown", **({"text": text} if text else {})))
        self.call("Input.dispatchKeyEvent", dict(event, type="keyUp"))

    def shot(self, path, whole=False):
        r = self.call("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole})
        with open(path, "wb") as f:
            f.write(base64.b64decode(r["data"]))

    def pdf(self, path):
        r = self.call("Page.printToPDF", {"printBackground": False, "preferCSSPageSize": True})
        with open(path, "wb") as f:
            f.write(base64.b64decode(r["data"]))
