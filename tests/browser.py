#!/usr/bin/python3
"""Drives a headless Chromium with the standard library alone. All tests of a machine's user share one: the first starts it, and
it ends when nobody has used it for a while.

    with Browser() as b:
        page = b.open("/path/report.html", width=1400, height=900, dark=False)
        page.js("document.title")
        page.mouse("mouseMoved", 10, 20)
        page.shot("shot.png")
        page.errors, page.requests

browser.py serve FOLDER is that Chromium: it talks to it over its debugging pipe (file descriptors 3 and 4), and to the tests
over a socket in FOLDER, in the same messages with a NUL behind each. A test has a browser context of its own, as a private
window.
"""
import base64
import decimal
import fcntl
import hashlib
import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
IDLE = 20                  # seconds without a test after which it ends
SWITCHES = """--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run
--disable-extensions --disable-background-networking --disable-component-update --disable-renderer-backgrounding
--disable-background-timer-throttling --disable-backgrounding-occluded-windows --force-color-profile=srgb
--remote-debugging-pipe""".split()


class Failure(Exception):
    pass


# ---- the Chromium that all share ----

class Messages:
    """JSON with a NUL behind it, from one file descriptor and to another."""
    def __init__(self, source, to):
        self.source, self.to, self.buffer = source, to, b""

    def send(self, message):
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]

    def receive(self):
        """What has arrived, at least one message; [] at the end."""
        while b"\0" not in self.buffer:
            more = os.read(self.source, 1 << 20)
            if not more:
                return []
            self.buffer += more
        *whole, self.buffer = self.buffer.split(b"\0")
        return [json.loads(m) for m in whole]


class Chromium:
    def __init__(self):
        program = next(p for p in PROGRAMS if shutil.which(p))
        self.profile = tempfile.mkdtemp(prefix="spot_browser_")
        to_read, to = os.pipe()
        of, of_write = os.pipe()

        def wire():
            a, b = os.dup(to_read), os.dup(of_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen([program, *SWITCHES, "--user-data-dir=" + self.profile, "about:blank"],
                                        preexec_fn=wire, pass_fds=(3, 4), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=self.profile))
        os.close(to_read)
        os.close(of_write)
        self.pipe = Messages(of, to)

    def close(self):
        try:
            self.pipe.send({"id": 0, "method": "Browser.close"})
            self.process.wait(5)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


class Server:
    """Gives each message of a test an id of its own, and takes answers and events to the test that they belong to."""
    def __init__(self, folder):
        self.folder, self.listener, self.chromium = folder, socket.socket(socket.AF_UNIX), Chromium()
        self.tests, self.asked, self.sessions, self.contexts, self.next = {}, {}, {}, {}, 0
        self.listener.bind(f"{folder}/socket")
        self.listener.listen(16)

    def ask(self, test, message):
        self.next += 1
        self.asked[self.next] = test, message["id"], message["method"]
        self.chromium.pipe.send(dict(message, id=self.next))

    def answered(self, message):
        if "id" not in message:
            test = self.sessions.get(message.get("sessionId"))
        else:
            test, message["id"], method = self.asked.pop(message["id"], (None, None, None))
            result = message.get("result", {})
            if method == "Target.attachToTarget" and "sessionId" in result:
                self.sessions[result["sessionId"]] = test
            if method == "Target.createBrowserContext" and "browserContextId" in result:
                self.contexts[test] = result["browserContextId"]
        if test in self.tests:
            try:
                self.tests[test].send(message)
            except OSError:
                self.leave(test)

    def leave(self, test):
        test.close()
        del self.tests[test]
        context = self.contexts.pop(test, None)
        if context:
            self.ask(None, {"id": 0, "method": "Target.disposeBrowserContext", "params": {"browserContextId": context}})

    def serve(self):
        while True:
            watched = [self.listener, self.chromium.pipe.source, *self.tests]
            ready = select.select(watched, [], [], None if self.tests else IDLE)[0]
            if not ready and self.ends():
                return
            for r in ready:
                if r is self.listener:
                    test = r.accept()[0]
                    self.tests[test] = Messages(test.fileno(), test.fileno())
                elif r is self.chromium.pipe.source:
                    messages = self.chromium.pipe.receive()
                    if not messages:
                        return
                    for m in messages:
                        self.answered(m)
                elif r in self.tests:
                    try:
                        messages = self.tests[r].receive()
                    except OSError:
                        messages = []
                    for m in messages:
                        self.ask(r, m)
                    if not messages:
                        self.leave(r)

    def ends(self):
        """Nobody can come between the last look and the end: who comes holds the lock."""
        with open(f"{self.folder}/lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if select.select([self.listener], [], [], 0)[0]:
                return False
            os.unlink(f"{self.folder}/socket")
            return True

    def close(self):
        self.chromium.close()
        try:
            os.unlink(f"{self.folder}/socket")
        except FileNotFoundError:
            pass


def serve(folder):
    server = Server(folder)
    try:
        server.serve()
    finally:
        server.close()


# ---- a test's side ----

def reach():
    """A socket to the Chromium that is there, or to one that is started here. Another version of this file has its own."""
    with open(__file__, "rb") as f:
        version = hashlib.sha256(f.read()).hexdigest()[:12]
    folder = f"{tempfile.gettempdir()}/spot_browser_{os.getuid()}_{version}"
    os.makedirs(folder, 0o700, exist_ok=True)
    if os.stat(folder).st_uid != os.getuid():
        raise Failure(folder + " is somebody else's")
    with open(f"{folder}/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        until, process = time.monotonic() + 30, None
        while True:
            s = socket.socket(socket.AF_UNIX)
            try:
                s.connect(f"{folder}/socket")
                return s
            except (FileNotFoundError, ConnectionRefusedError):
                s.close()
            if not process:
                if os.path.exists(f"{folder}/socket"):
                    os.unlink(f"{folder}/socket")      # of one that was killed
                process = subprocess.Popen([sys.executable, __file__, "serve", folder], stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            elif time.monotonic() > until or process.poll() is not None:
                raise Failure("Chromium does not start")
            time.sleep(0.05)


class Browser:
    def __init__(self):
        if not any(map(shutil.which, PROGRAMS)):
            raise FileNotFoundError("no Chromium: tools/setup --tests installs it")
        self.socket = reach()
        self.messages, self.waiting = Messages(self.socket.fileno(), self.socket.fileno()), []
        self.next, self.pages = 0, {}
        self.context = self.call("Target.createBrowserContext")["browserContextId"]
        self.downloads = tempfile.TemporaryDirectory(prefix="spot_downloads_")
        self.call("Browser.setDownloadBehavior", {"behavior": "allow", "browserContextId": self.context,
                                                  "downloadPath": self.downloads.name})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.downloads.cleanup()

    def download(self, name, timeout=20):
        """The path of a file that a page has saved, whose name matches."""
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            for found in os.listdir(self.downloads.name):
                if re.fullmatch(name, found):
                    return f"{self.downloads.name}/{found}"
            time.sleep(0.02)
        raise Failure(f"{name} was not saved, but {os.listdir(self.downloads.name)}")

    def receive(self, until):
        while not self.waiting:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.socket], [], [], left)[0]:
                raise Failure("Chromium did not answer in time")
            self.waiting = self.messages.receive()
            if not self.waiting:
                raise Failure("Chromium is gone")
        message = self.waiting.pop(0)
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
        self.messages.send(message)
        until, mine = time.monotonic() + timeout, self.next
        while True:
            answer = self.receive(until)
            if answer.get("id") == mine:
                if "error" in answer:
                    raise Failure("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]

    def open(self, path, width=1400, height=900, dark=False, ratio=1, timeout=60):
        target = self.call("Target.createTarget", {"url": "about:blank", "newWindow": True,
                                                   "browserContextId": self.context})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self.pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(domain + ".enable")
        page.call("Performance.enable", {"timeDomain": "threadTicks"})
        page.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": False})
        page.call("Emulation.setEmulatedMedia",
                  {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        page.call("Emulation.setFocusEmulationEnabled", {"enabled": True})
        page.call("Page.navigate", {"url": "file://" + os.path.abspath(path)})
        page.wait("document.documentElement?.dataset.ready === '1'", timeout)
        return page


class Page:
    def __init__(self, browser, session):
        self.browser, self.session, self.errors, self.requests = browser, session, [], []

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

    def cpu(self):
        """Seconds of CPU time that the page's tasks have taken until now."""
        return {m["name"]: m["value"] for m in self.call("Performance.getMetrics")["metrics"]}["TaskDuration"]

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


# ---- what a reader sees: words, numbers as they are written, choices ----

def check(truth, *words):
    if not truth:
        raise Failure(" ".join(str(w) for w in words))


PROBE = """(async () => {
    const box = document.createElement("div"), script = document.createElement("script");
    box.innerHTML = '<b onclick="window.ran = 1" style="order: 7">words of a stranger</b>';
    script.textContent = "window.ran = 1";
    document.body.append(box, script);
    box.firstChild.click();
    const styled = getComputedStyle(box.firstChild).order === "7";
    box.remove(), script.remove();
    await new Promise(r => setTimeout(r, 0));
    return window.ran === 1 || styled;
})()"""


def quiet(page, name=""):
    """Its console and the network are silent, and markup that got into it would not run. The probe's complaints are not the
    page's."""
    check(not page.errors, name, "the console says", page.errors)
    strange = [u for u in page.requests if not u.startswith(("file://", "data:", "blob:"))]
    check(not strange, name, "asked the network for", strange)
    check(len([u for u in page.requests if u.startswith("file://")]) == 1, name, "reads other files", page.requests[:5])
    check(not page.js(PROBE), name, "runs scripts and styles that are not its own")
    page.errors.clear()


def opened(browser, path, name, *widths):
    """The page in the last of some windows, a narrow dark one and a wide one where none are named: nothing lies beside them."""
    for width in widths or (400, 1280):
        page = browser.open(path, width=width, height=900, dark=width == 400)
        check(page.js("document.documentElement.scrollWidth <= innerWidth"), name, "is wider than", width)
        quiet(page, name)
    return page


def text(page, what):
    return page.js("document.querySelector(%s).textContent" % json.dumps(what))


def texts(page, what, of="textContent"):
    return page.js("[...document.querySelectorAll(%s)].map(e => e.%s)" % (json.dumps(what), of))


def labels(page, what):
    return texts(page, what, "getAttribute('aria-label')")


def seen(page, what):
    return len(texts(page, what))


def parts(page, what, children):
    """The pieces of text of each child of each element: a cell's number and the interval below it are two."""
    return page.js("[...document.querySelectorAll(%s)].map(e => [...e.querySelectorAll(%s)].map(c => [...c.childNodes].map("
                   "n => n.textContent).filter(t => t)))" % (json.dumps(what), json.dumps(children)))


def pick(page, what, value, k=0):
    """Chooses in list k of those, by the value or the words of an option."""
    page.js("((e, v) => { e.value = ([...e.options].find(o => o.textContent === v) ?? { value: v }).value; "
            "e.dispatchEvent(new Event('change')); })(document.querySelectorAll(%s)[%d], %s)"
            % (json.dumps(what), k, json.dumps(str(value))))


def press(page, what, words=""):
    """Presses the first of those that begins with the words."""
    page.js("[...document.querySelectorAll(%s)].find(e => e.textContent.startsWith(%s)).click()"
            % (json.dumps(what), json.dumps(words)))


def number(words, pattern):
    found = re.search(pattern, words)
    check(found, "no", pattern, "in", words)
    return float(found[1].replace(",", ""))


def fixed(v, digits):
    """A number as pages write it; None: a dash."""
    if v is None:
        return "–"
    v = decimal.Decimal(v).quantize(decimal.Decimal(1).scaleb(-digits), decimal.ROUND_HALF_UP)
    return str(abs(v) if not v else v).replace("-", "−")


def shows(words, v, tolerance=0):
    """Whether the words are the number, but for the rounding of their last digit."""
    told = decimal.Decimal(words.replace("−", "-"))
    return abs(float(told) - v) <= tolerance + float(decimal.Decimal("0.50001").scaleb(told.as_tuple().exponent))


if __name__ == "__main__":
    serve(sys.argv[2])
