// page_shifts.js - what each shift costs: a table, the models of a shift, figures, pictures at the thresholds, sources against
// real pictures. Its page is shifts.html.

const $ = id => document.getElementById(id);
let study, rows, several;
const sourceName = k => study.sources[k].source ?? "all pictures";
const f2 = v => v === null || v === undefined ? "–" : v.toFixed(2).replace("-0.00", "0.00").replace("-", "−");
const f4 = v => v.toFixed(4).replace("-", "−");
const between = i => i.low === null ? "" : `${f2(i.low)} to ${f2(i.high)}`;
const shown = r => (several ? `${sourceName(r.source)}, ` : "") + r.shift;

// The study's own document. A row is a shift of a source with its estimate, where there are models.
async function load() {
  study = await Block.json(what.study);
  several = study.sources.length > 1;
  rows = study.sources.flatMap((v, k) => v.shifts.map(s => {
    const e = (study.models.length && s.estimates[v.compared]) || {};
    return { ...s, ...e, accuracy: e.shift, source: k, shift: s.shift, least: s.threshold > -1 ? s.threshold : null };
  }));
}

function facts() {
  const fact = (name, value, note) =>
    $("facts").append(h("div", {}, h("dt", {}, name), h("dd", {}, h("b", {}, value), note ? h("span", {}, note) : null)));
  const shifts = new Set(rows.map(r => r.shift)).size;
  $("source").textContent = what.source;
  fact("shifts", count(shifts), several ? `of ${study.sources.length} sources` : null);
  fact("models", count(study.models.length), study.models.length && study.models.length < 20 ? "few for a slope" : null);
  const folders = [study.real, ...study.sources.flatMap(v => [v.base, ...v.shifts])].filter(Boolean);
  const all = key => folders.reduce((n, f) => n + (f[key] ?? 0), 0);
  fact("classes", count(classes()));
  fact("pictures", count(all("pictures")), folders[folders.length - 1].kept === undefined ? "not filtered"
    : `${count(all("kept"))} pass the filter`);
  $("summary").append(...study.sources.map(v => v.summary).map((list, k) => h("div", {}, several && list.length ? h("h3", {}, sourceName(k)) : null,
    h("ul", { class: "summary" }, ...list.map(t => h("li", {}, t.replaceAll("(-", "(−")))))));
  if (study.notes.length) $("notes").append(h("p", { class: "hint" }, study.notes.join(" ")));
  if (study.not_the_papers.length)
    $("notes").append(h("p", { class: "notes" }, "Settings that are not the paper’s: ", study.not_the_papers.join(" ")));
}

// ---- the table ----

const classes = () => study.sources[0].base.classes.length;

function cell(v) {
  if (!v || v.value === null) return h("td", { class: "number" }, "–");
  return h("td", { class: "number" }, f2(v.value), h("small", {}, h("br"), between(v)));
}

// The shift with its source; what is described; the threshold.
function table() {
  const columns = [
    { name: "shift", key: r => r.shift, cell: r => h("th", { scope: "row" }, h("bdi", {}, shown(r))) },
    ...Quantity.columns(what.columns.filter(q => !["shift", "source"].includes(q.name)), rows, 1),
    { name: "threshold", number: true, about: "least similarity to the caption of the shift", key: r => r.least,
      cell: r => h("td", { class: "number" }, r.least === null ? "none" : f4(r.least)) },
  ];
  $("table").append(h("p", { class: "hint" }, "Below each number: its 95 % interval. Press a heading to sort."),
    sortable(columns, rows, "Every shift", Math.max(0, columns.findIndex(c => c.id === "impact"))));
}

// ---- the models of a shift: Figure 10 ----

const onAxis = { linear: v => v, logit: v => Math.log(v / (1 - v)), probit: null };

// Acklam's approximation of the normal quantile, good to 1e-9 relative.
onAxis.probit = p => {
  const a = [-39.69683028665376, 220.9460984245205, -275.9285104469687, 138.3577518672690, -30.66479806614716,
    2.506628277459239];
  const b = [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572];
  const c = [-0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968,
    2.938163982698783];
  const d = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416];
  const poly = (k, x) => k.reduce((s, v) => s * x + v, 0), low = 0.02425;
  if (p > 1 - low) return -onAxis.probit(1 - p);
  if (p < low) { const q = Math.sqrt(-2 * Math.log(p)); return poly(c, q) / (poly(d, q) * q + 1); }
  const q = p - 0.5, r = q * q;
  return poly(a, r) * q / (poly(b, r) * r + 1);
};

const place = (v, limit) => onAxis[study.settings.axes](study.settings.axes === "linear" ? v : Math.min(1 - limit, Math.max(limit, v)));

// Round accuracies for a probit or logit axis, the most wanted first; percents follow them for an axis that is short.
const round = [0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 0.0001, 0.9999, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.05, 0.95, 0.02, 0.98,
  0.005, 0.995];

// [text, place] of the ticks that have room: none is nearer than `room` pixels to one before it.
function ticksOf(scale, room) {
  if (study.settings.axes === "linear") return scale.ticks(6).filter(t => t >= 0 && t <= 1).map(t => [t, t]);
  const [from, to] = scale.domain(), told = [];
  const add = t => {
    const v = place(t, 0);
    if (v >= from && v <= to && told.every(([, other]) => Math.abs(scale(v) - scale(other)) >= room)) told.push([t, v]);
  };
  round.forEach(add);
  for (let k = 1; k < 100 && told.length < 3; k++) add(k / 100);
  return told;
}

function drawFit(r) {
  const W = Math.max(320, Math.min(640, $("fit").clientWidth || 640)), H = Math.round(180 + 0.375 * W);
  const box = { left: 52, right: 12, top: 10, bottom: 42 };
  const svg = d3.select($("fit")).html("").append("svg").attr({ viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label":
    `${shown(r)}: shift accuracy against base accuracy of ${study.models.length} models, slope ${f2(r.slope.value)}` });
  const xs = r.base.map(v => place(v, r.limit_base)), ys = r.accuracy.map(v => place(v, r.limit_shift));
  if (!r.classes_used) {
    d3.select($("fit")).html("").append("p").attr("class", "hint").text("No class has enough pictures left.");
    return;
  }
  const range = (v, least) => {
    const low = d3.min(v), high = d3.max(v), pad = Math.max((high - low) * 0.08, (least - (high - low)) / 2);
    return [low - pad, high + pad];
  };
  const x = d3.scale.linear().domain(range(xs, 0.05)).range([box.left, W - box.right]);
  const y = d3.scale.linear().domain(range(ys, 0.05)).range([H - box.bottom, box.top]);
  for (const [t, v] of ticksOf(x, 38)) {
    svg.append("line").attr({ class: "grid", x1: x(v), x2: x(v), y1: box.top, y2: H - box.bottom });
    svg.append("text").attr({ x: x(v), y: H - box.bottom + 17, "text-anchor": "middle" }).text(String(+t.toFixed(4)));
  }
  for (const [t, v] of ticksOf(y, 18)) {
    svg.append("line").attr({ class: "grid", x1: box.left, x2: W - box.right, y1: y(v), y2: y(v) });
    svg.append("text").attr({ x: box.left - 7, y: y(v) + 4, "text-anchor": "end" }).text(String(+t.toFixed(4)));
  }
  svg.append("text").attr({ x: (box.left + W) / 2, y: H - 6, "text-anchor": "middle" }).text("base accuracy");
  svg.append("text").attr({ transform: `translate(13,${H / 2}) rotate(-90)`, "text-anchor": "middle" }).text("shift accuracy");
  svg.append("clipPath").attr("id", "frame").append("rect").attr({ x: box.left, y: box.top, width: W - box.left - box.right,
    height: H - box.top - box.bottom });
  const inner = svg.append("g").attr("clip-path", "url(#frame)"), [from, to] = x.domain();
  const mean = d3.mean(xs), middle = r.intercept + r.slope.value * mean, line = (s, at) => y(middle + s * (at - mean));
  const wedge = end => `M${x(end)},${line(r.slope.low, end)}L${x(mean)},${y(middle)}L${x(end)},${line(r.slope.high, end)}Z`;
  if (r.slope.value !== null && r.slope.low !== null)
    inner.append("path").attr({ class: "wedge", d: wedge(from) + wedge(to) });
  inner.append("line").attr({ class: "equal", x1: x(from), x2: x(to), y1: y(from), y2: y(to) });
  if (r.slope.value !== null)
    inner.append("line").attr({ class: "line-fit", x1: x(from), x2: x(to), y1: line(r.slope.value, from),
      y2: line(r.slope.value, to) });
  svg.selectAll(".dot").data(study.models).enter().append("circle").attr("class", "dot").attr("tabindex", 0)
    .attr("cx", (m, i) => x(xs[i])).attr("cy", (m, i) => y(ys[i])).attr("r", 5)
    .attr("aria-label", (m, i) => `${m}: base ${percent(r.base[i], 1)}, shift ${percent(r.accuracy[i], 1)}`)
    .append("title").text((m, i) => `${m}: base ${percent(r.base[i], 1)}, shift ${percent(r.accuracy[i], 1)}`);
  d3.select($("fit")).append("p").attr("class", "key-line").text(`Slope ${f2(r.slope.value)} (${between(r.slope)}), ` +
    `impact ${f2(r.impact.value)} (${between(r.impact)}), correlation ${f2(r.correlation)}, ${study.settings.axes} axes. ` +
    "A point is a model; point at one for its name. Shaded: the " +
    "interval of the slope. Dotted: the shift costs nothing." + (study.settings.axes === "linear" ? ""
    : " Accuracies of 0 and 1 stand at 1/2n and 1 − 1/2n for n pictures, as in the fit."));
}

// The greatest impact first.
function fits() {
  if (!study.models.length) return;
  const impact = r => r.impact?.value ?? -Infinity, list = [...rows].sort((a, b) => impact(b) - impact(a));
  const select = h("select", { onchange: e => drawFit(list[e.target.value]) },
    ...list.map((r, i) => h("option", { value: i }, shown(r))));
  $("models").hidden = false;
  $("fit-bar").append(h("label", {}, "shift ", select));
  drawFit(list[0]);
}

// ---- figures, pictures, sources ----

function figures() {
  if (!what.figures.length) return;
  $("figure-part").hidden = false;
  const image = f => h("figure", { class: "shift-figure" }, h("img", { class: "figure", alt: `${f.title}: ${f.alt}`,
    loading: "lazy",
    src: `data:image/svg+xml;base64,${$("f" + f.element).textContent}` }));
  for (const group of new Set(what.figures.map(f => f.group))) {
    const own = what.figures.filter(f => f.group === group);
    $("figures").append(h("div", {}, h("h3", {}, own[0].title), h("div", { class: own.length > 1 ? "figures many" : "figures" },
      ...own.map(image))));
  }
}

function thumbs(name, drop, list, all) {
  return h("div", {}, h("p", { class: drop ? "side-name drop" : "side-name" }, h("b", {}, name),
    ` ${count(list.length)} of ${plural(all, "picture")}`),
    h("div", { class: "thumbs" }, ...list.map(([row, margin, cls]) => h("figure", {}, Picture.show(row, what.names[row], 64),
      h("figcaption", {}, (margin < 0 ? "−" : "+") + Math.abs(margin).toFixed(3), h("br"),
        h("bdi", {}, cls.replaceAll("_", " ")))))));
}

function pictures() {
  if (!what.at.length) return;
  const p = what.pictures, left = p.there - p.given;
  $("picture-part").hidden = false;
  $("picture-hint").textContent = "Below each picture: how far its similarity lies above or below the threshold, and its " +
    "class. Only pictures that pass the other caption are shown." +
    (left ? ` ${count(left)} of ${count(p.there)} pictures are left out here: ` +
    (p.unreadable ? `${count(p.unreadable)} could not be read` : "they do not fit into the page") + "." : "");
  const part = b => h("div", {}, h("p", { class: "hint" }, b.by === "shift" ?
    `Caption of the shift, “${b.caption}”, threshold ${f4(b.threshold)}`
    : `Caption of the class, “${b.caption}”, each class with its own threshold`),
    h("div", { class: "pair" }, thumbs("just kept", false, b.above, b.over), thumbs("just dropped", true, b.below, b.under)));
  $("pictures").append(...what.at.map(a => h("section", { class: "at" }, h("h3", {}, h("bdi", {}, shown(a))),
    ...a.by.map(part))));
}

function gaps() {
  const own = study.sources.map((v, k) => [v, k]).filter(([v]) => v.gaps.length);
  if (!own.length) return;
  $("gap-part").hidden = false;
  const bad = g => g.verdict === "confounded";
  const word = ({ class: name, share }) => `${name.replaceAll("_", " ")} ${percent(share, 0).replace(" ", "\u00a0")}`;
  const top = (folder, cls) => folder.classes.find(k => k.class === cls).predicted_most.slice(0, 3).map(word).join(", ");
  const row = (g, base) => h("tr", { class: bad(g) ? "bad-row" : null }, h("th", { scope: "row" },
    h("bdi", {}, g.class.replaceAll("_", " "))),
    h("td", { class: "number" }, percent(g.real, 0)), h("td", { class: "number" }, percent(g.base, 0)), cell(g.gap),
    h("td", { class: "number" }, g.p === null ? "–" : g.p < 0.001 ? "< 0.001" : g.p.toFixed(3)),
    h("td", { class: "whole" }, bad(g) ? h("b", {}, "confounded") : "not shown"), h("td", {}, top(study.real, g.class)),
      h("td", {}, top(base, g.class)));
  for (const [v, k] of own) {
    const worst = v.gaps.slice(0, 20);
    $("gaps").append(h("h3", {}, `${sourceName(k)}: median gap ${f2(v.median_gap)}`),
      h("div", { class: "scroll", tabindex: 0, role: "region",
      "aria-label": `Classes of ${sourceName(k)}` }, h("table", {},
      h("caption", {}, worst.length < v.gaps.length
        ? `The ${worst.length} largest gaps of ${count(v.gaps.length)} classes; shifts.json has all.`
        : "Largest gap first."),
      h("thead", {}, h("tr", {}, ...["class", "real", "base", "gap", "p", "verdict", "predicted most, real",
        "predicted most, base"].map((t, i) =>
        h("th", { scope: "col", class: i > 0 && i < 5 ? "number" : null }, t)))), h("tbody", {}, ...worst.map(g => row(g, v.base))))));
  }
}

// Base and shifts of every source, of the pictures that are compared; then the classes of the base pictures.
function covers() {
  const folders = study.sources.flatMap((v, k) => [[v.base, "base"], ...v.shifts.map(s => [s, s.shift])].map(([f, shift]) =>
    ({ shift, source: sourceName(k), ...(f.coverage?.[f.kept === undefined ? "all" : "kept"] ?? {}) })));
  if (!folders.some(r => r.classes)) return;
  const described = what.coverage.filter(q => q.name !== "source" || several);
  const draw = (title, list) => {
    const columns = Quantity.columns(described, list);
    $("covers").append(h("h3", {}, title), sortable(columns, list, title, columns.findIndex(c => c.id === "coverage")));
  };
  $("cover-part").hidden = false;
  draw("Folders", folders);
  study.sources.forEach((v, k) => {
    const own = v.base.classes.filter(c => c.coverage).map(c => ({ ...c.coverage, classes: null, source: null,
      shift: c.class.replaceAll("_", " ") }));
    if (own.length > 1) draw(several ? `Classes of base pictures, ${sourceName(k)}` : "Classes of base pictures", own);
  });
}

function help() {
  const p = t => h("p", {}, t);
  $("help").append(
    p("Impact is the mean over models of base accuracy minus shift accuracy, on the classes that have enough pictures of the " +
      "shift left. Slope is that of the line of least squares of shift accuracy on base accuracy over models: 1 means that a " +
      "better model gains on the shift what it gains on base pictures, 0 that it gains nothing. Intervals are from a " +
      "bootstrap over classes and models."),
    p("A picture passes when its similarity to the caption of its class is at least that of the class's threshold, a " +
      "percentile of real pictures, and its similarity to the caption of the shift at least the shift's threshold. Classes " +
      "with too few pictures left do not count: look at that number before an impact."),
    p("Confounded: a class of base pictures on which models are worse than on real pictures beyond chance, and by more than " +
      "the median of the source's classes. Its base accuracy is then about something else than the class. Answers of " +
      "several models to one picture are alike and count as fewer."),
    ...(study.sources[0].base.coverage ? [p("Coverage: the share of real pictures that have a generated one nearer than their " +
      "fifth nearest real one (Naeem et al. 2020). A generator that always draws the same picture has a high precision and a " +
      "low coverage and recall. Intervals are from random halves of the pictures.")] : []),
    p(`Made by Spotter ${what.spotter}. The page is whole in itself: it loads nothing and sends nothing. ` +
      "All numbers are in shifts.json."));
}

async function start() {
  await load();
  facts();
  table();
  fits();
  figures();
  gaps();
  covers();
  help();
  await Picture.load();
  pictures();
  document.documentElement.dataset.ready = "1";
}

start().catch(e => {
  $("notes").append(h("p", { class: "notes" }, `The report could not be shown: ${e.message}`));
  throw e;
});
