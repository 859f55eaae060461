// page_trend.js - the nights of a history: a strip of verdicts, the course of every number, and all of it as a table. Its page
// is trend.html. What comes from the data only ever gets in as text.

const what = JSON.parse(document.getElementById("what").textContent);
const WORSE = what.verdicts.indexOf("worse"), TOO_GOOD = what.verdicts.indexOf("too good");
const BROKEN = what.verdicts.indexOf("broken"), BETTER = what.verdicts.indexOf("better");
const INCONCLUSIVE = what.verdicts.indexOf("inconclusive");

const $ = id => document.getElementById(id);

function h(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) if (v !== null && v !== undefined) e.setAttribute(k, v);
  e.append(...children.filter(c => c !== null && c !== undefined));
  return e;
}

const KEYS = ["night", "verdict", "quarantined", "n", "before", "now", "low", "high", "margin"];
for (const s of what.series) {
  s.points = s.points.map(p => Object.fromEntries(KEYS.map((k, i) => [k, p[i]])));
  s.name = s.method || "all ECs";
  s.unit = s.metric === "learned" ? "share learned" : s.metric.toUpperCase();
  if (s.layer === "paper") s.unit += " beside the paper's";
}

const day = n => n.at.slice(0, 10);
const f3 = v => v === null ? "–" : v.toFixed(3);
const bad = p => !p.quarantined && (p.verdict === WORSE || p.verdict === TOO_GOOD);
const verdictOf = p => what.verdicts[p.verdict] + (p.quarantined ? " (in quarantine)" : "");
const last = what.nights[what.nights.length - 1];

function wordOf(i) {
  const n = what.nights[i], off = what.series.flatMap(s => s.points.filter(p => p.night === i && bad(p))
    .map(p => `${s.method} ${s.unit} ${what.verdicts[p.verdict]}`.trim()));
  const said = n.said.length ? n.said : [];
  return `${day(n)}: ${n.failed ? "failed" : "fine"}${off.length || said.length ? `: ${[...off, ...said].join("; ")}` : ""}`;
}

function facts() {
  const fact = (name, value, note) =>
    $("facts").append(h("div", {}, h("dt", {}, name), h("dd", {}, h("b", {}, value), note ? h("span", {}, note) : null)));
  const failed = what.nights.filter(n => n.failed).length;
  $("source").textContent = what.source;
  fact("nights", String(what.nights.length), `${day(what.nights[0])} to ${day(last)}`);
  fact("failed", String(failed), failed ? `the latest on ${day(what.nights.filter(n => n.failed).pop())}` : null);
  fact("last night", last.failed ? "failed" : "fine", [`numbers ${last.numbers}`, last.commit || last.build].join(", "));
  if (what.damaged)
    $("notes").append(h("p", { class: "notes" }, `${what.damaged} line${what.damaged === 1 ? "" : "s"} of the history ` +
      `${what.damaged === 1 ? "is" : "are"} damaged and left out.`));
}

function strip() {
  const open = i => what.series.some(s => s.points.some(p => p.night === i && p.verdict === INCONCLUSIVE));
  $("strip").append(h("div", { class: "strip-nights", role: "img",
    "aria-label": `${what.nights.length} nights, ${what.nights.filter(n => n.failed).length} failed; the table lists them` },
    ...what.nights.map((n, i) => h("i", { class: n.failed ? "failed" : open(i) ? "undecided" : null, title: wordOf(i) }))));
  const told = what.nights.map((n, i) => [n, wordOf(i)]).filter(([n]) => n.failed).slice(-12).reverse();
  if (told.length)
    $("strip").append(h("p", { class: "key-line" }, "Striped: failed. Paler: nothing worse, but not all is decided."),
      h("ul", {}, ...told.map(([, text]) => h("li", {}, text))));
}

const shapes = { circle: r => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
                 down: r => `M${-r},${-r * 0.8}H${r}L0,${r}Z`, up: r => `M${-r},${r * 0.8}H${r}L0,${-r}Z`,
                 square: r => `M${-r},${-r}H${r}V${r}H${-r}Z` };

function mark(p, few) {
  const small = few ? 3.4 : 1.8;
  if (p.verdict === WORSE) return shapes.down(5.5);
  if (p.verdict === TOO_GOOD) return shapes.square(4.5);
  if (p.verdict === BETTER) return shapes.up(5);
  return shapes.circle(p.verdict === INCONCLUSIVE && few ? 3.2 : small);
}

const markClass = p => "mark" + (p.verdict === INCONCLUSIVE ? " inconclusive" : "") + (bad(p) ? " bad" : "") +
                       (p.quarantined ? " q" : "");

// Runs of nights that follow each other without a gap: a line does not cross a night that has no number.
function runs(points) {
  const out = [];
  points.forEach((p, i) => {
    if (!i || points[i - 1].night !== p.night - 1) out.push([]);
    out[out.length - 1].push(p);
  });
  return out;
}

function chart(s) {
  const W = 520, H = 170, box = { left: 40, right: 8, top: 10, bottom: 22 }, few = what.nights.length <= 60;
  const figure = h("figure", { class: "chart" }), p = s.points, latest = p[p.length - 1];
  figure.append(h("figcaption", {}, h("span", {}, h("bdi", {}, s.name), ` ${s.unit}`),
    h("small", {}, `${f3(latest.now)}, ${verdictOf(latest)}`,
      latest.night === what.nights.length - 1 ? null : ` (${day(what.nights[latest.night])})`)));
  const svg = d3.select(figure).append("svg").attr({ viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label":
    `${s.name} ${s.unit}: ${p.length} nights, from ${f3(d3.min(p, q => q.now))} to ${f3(d3.max(p, q => q.now))}, ` +
    `latest ${f3(latest.now)} (${verdictOf(latest)}), baseline ${f3(latest.before)}; ${p.filter(bad).length} nights failed` });
  const low = d3.min(p, q => Math.min(q.now, q.low ?? 1, q.before - q.margin));
  const high = d3.max(p, q => Math.max(q.now, q.high ?? 0, q.before + q.margin));
  const pad = Math.max(0.01, 0.06 * (high - low));
  const x = d3.scale.linear().domain([0, Math.max(1, what.nights.length - 1)]).range([box.left + 6, W - box.right - 6]);
  const y = d3.scale.linear().domain([low - pad, high + pad]).range([H - box.bottom, box.top]);
  for (const t of y.ticks(4)) {
    svg.append("line").attr({ class: "grid", x1: box.left, x2: W - box.right, y1: y(t), y2: y(t) });
    svg.append("text").attr({ x: box.left - 6, y: y(t) + 4, "text-anchor": "end" }).text(y.tickFormat(4)(t));
  }
  const ticks = [...new Set(d3.range(4).map(i => Math.round(i * (what.nights.length - 1) / 3)))];
  ticks.forEach((t, i) => svg.append("text").attr({ x: x(t), y: H - 5,
    "text-anchor": i === 0 ? "start" : i === ticks.length - 1 ? "end" : "middle" }).text(day(what.nights[t])));
  // A night is as wide as a step, so that one alone is to be seen, too.
  const step = Math.min(6, (x(1) - x(0)) / 2), wide = run => [{ ...run[0], at: x(run[0].night) - step },
    ...run.map(q => ({ ...q, at: x(q.night) })), { ...run[run.length - 1], at: x(run[run.length - 1].night) + step }];
  const area = (a, b) => d3.svg.area().x(q => q.at).y0(q => y(a(q))).y1(q => y(b(q)));
  for (const run of runs(p)) {
    const w = wide(run), within = w.filter(q => q.low !== null);
    const margin = area(q => q.before - q.margin, q => q.before + q.margin).interpolate("step");
    svg.append("path").attr({ class: "margin", d: margin(w) });
    if (within.length) svg.append("path").attr({ class: "interval", d: area(q => q.low, q => q.high)(within) });
    svg.append("path").attr({ class: "base", d: d3.svg.line().x(q => q.at).y(q => y(q.before)).interpolate("step")(w) });
    svg.append("path").attr({ class: "now", d: d3.svg.line().x(q => x(q.night)).y(q => y(q.now))(run) });
  }
  const marks = svg.selectAll(".mark").data(p).enter().append("path").attr("class", markClass)
    .attr("transform", q => `translate(${x(q.night)},${y(q.now)})`).attr("d", q => mark(q, few));
  marks.append("title").text(q => `${day(what.nights[q.night])} ${what.nights[q.night].commit}: ${f3(q.now)}, baseline ` +
    `${f3(q.before)}, 95 % ${f3(q.low)} to ${f3(q.high)}, margin ${q.margin}, ${q.n} ECs: ${verdictOf(q)}`);
  return figure;
}

function keys() {
  const key = (draw, text) => {
    const e = h("span"), svg = d3.select(e).append("svg").attr({ viewBox: "0 0 22 13", "aria-hidden": "true" });
    draw(svg);
    e.append(" " + text);
    return e;
  };
  const shape = (c, d) => svg => svg.append("path").attr({ class: "mark " + c, d, transform: "translate(11,6.5)" });
  const rect = c => svg => svg.append("rect").attr({ class: c, x: 0, y: 1, width: 22, height: 11 });
  $("keys").append(key(svg => svg.append("line").attr({ class: "now", x1: 0, x2: 22, y1: 6, y2: 6 }), "mean of the night"),
    key(rect("interval"), "its 95 % interval, as a difference from the baseline"),
    key(svg => svg.append("line").attr({ class: "base", x1: 0, x2: 22, y1: 6, y2: 6 }), "baseline"),
    key(rect("margin"), "margin that counts as the same"), key(shape("", shapes.circle(3.4)), "same"),
    key(shape("inconclusive", shapes.circle(3.2)), "inconclusive"), key(shape("", shapes.up(5)), "better"),
    key(shape("bad", shapes.down(5.5)), "worse"), key(shape("bad", shapes.square(4.5)), "too good"),
    key(shape("q", shapes.circle(3.4)), "in quarantine"));
}

function table() {
  const at = what.series.map(s => new Map(s.points.map(p => [p.night, p])));
  const head = ["night", "verdict", "commit"];
  const row = i => {
    const n = what.nights[i];
    return h("tr", {}, h("th", { scope: "row" }, day(n)), h("td", { title: wordOf(i) }, n.failed ? "failed" : "fine"),
      h("td", {}, n.commit),
      ...at.map(m => {
        const p = m.get(i);
        if (!p) return h("td", { class: "number" }, "–");
        return h("td", { class: "number" }, f3(p.now), p.verdict ? h("small", {}, " " + verdictOf(p)) : null);
      }));
  };
  $("table").append(h("div", { class: "scroll plain-box", tabindex: 0, role: "region", "aria-label": "All nights" },
    h("table", { class: "plain" },
      h("caption", {}, "The latest night first; where nothing is said a number is the same as the baseline's."),
      h("thead", {}, h("tr", {}, ...head.map(t => h("th", { scope: "col" }, t)),
        ...what.series.map(s => h("th", { scope: "col", class: "number" }, h("bdi", {}, s.name), ` ${s.unit}`)))),
      h("tbody", {}, ...what.nights.map((n, i) => row(what.nights.length - 1 - i))))));
}

function help() {
  const p = t => h("p", {}, t);
  $("help").append(
    p("A night is a sweep of the same config, compared with a baseline that was accepted with a reason. DR is the share of " +
      "planted blindspots that a method finds, FDR the share of its hypotheses that are none; more DR and less FDR is better."),
    p("Worse and better: the difference is larger than the margin, and chance brings it not once in a hundred nights. " +
      "Same: the 90 % interval of the difference lies within the margin. Inconclusive: neither is shown; more ECs would tell."),
    p("A step of the dashed line is a new baseline. Point at a mark for its numbers."),
    p(`Made by Spotter ${what.spotter}. The page is whole in itself: it loads nothing and sends nothing.`));
}

facts();
strip();
keys();
$("course").append(...what.series.map(chart));
table();
help();
document.title = "Nights – Spotter";
document.documentElement.dataset.ready = "1";
