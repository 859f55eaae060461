#!/usr/bin/env python3
"""ci_reads.py NAME COUNT=N...: NAME.xml and NAME.sarif of --junit and --sarif are whole, agree, and have so many tests, failures,
errors, skipped ones and warnings."""
import json
import sys
import xml.etree.ElementTree as ET

name, *wanted = sys.argv[1:]
top = ET.parse(name + ".xml").getroot()
suite, = top
cases = suite.findall("testcase")
has = {key: len(suite.findall("testcase/" + tag)) for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))}
has["tests"] = len(cases)
assert (top.tag, suite.tag) == ("testsuites", "testsuite") and len(cases) > 0
for element, keys in (top, ("tests", "failures", "errors")), (suite, has):
    assert {k: int(element.get(k)) for k in keys} == {k: has[k] for k in keys}, (name, element.attrib, has)
assert len({(c.get("classname"), c.get("name")) for c in cases}) == len(cases), [c.get("name") for c in cases]
assert all(e.get("message") and e.get("type") and e.text for e in suite.iter() if e.tag in ("failure", "error"))
assert all(p.get("name") and p.get("value") for p in suite.iter("property"))

log = json.load(open(name + ".sarif"))
run, = log["runs"]
driver, results, call = run["tool"]["driver"], run["results"], run["invocations"][0]
assert log["version"] == "2.1.0" and "2.1.0" in log["$schema"] and driver["name"] == "spotter" and driver["version"]
assert all(r[t]["text"] for r in driver["rules"] for t in ("shortDescription", "fullDescription", "help"))
has["warnings"] = sum(r["level"] == "warning" for r in results)
assert call["executionSuccessful"] == (has["errors"] == 0) and call["exitCode"] == (1 if has["failures"] else 0) or has["errors"]
assert not has["errors"] or call["exitCode"] > 1 and call["toolExecutionNotifications"][0]["message"]["text"]
assert [r["level"] for r in results] == ["error"] * has["failures"] + ["warning"] * has["warnings"] + ["note"] * has["skipped"]
assert len({r["partialFingerprints"]["primaryLocationLineHash"] for r in results}) == len(results)
for r in results:
    rule, (where,) = driver["rules"][r["ruleIndex"]], r["locations"]
    assert rule["id"] == r["ruleId"] and rule["defaultConfiguration"]["level"] == r["level"], r
    assert r["message"]["text"] and "](" not in r["message"]["text"] and len(r["properties"]) > 3, r
    place = where["physicalLocation"]
    assert place["artifactLocation"]["uri"] and " " not in place["artifactLocation"]["uri"] and place["region"]["startLine"] == 1
    assert where["logicalLocations"][0]["name"] in [c.get("name") for c in cases], where

for want in wanted:
    key, n = want.split("=")
    assert has[key] == int(n), (name, want, has)
