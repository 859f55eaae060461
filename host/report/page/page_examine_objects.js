// page_examine_objects.js - the objects of an examination: numbers, the usual render beside failing ones, the conditions of the
// lowest p, p along each factor; licences.

const factorName = f => f.replaceAll("_", " ");
const inSpace = () => settings.factors.map(f => f.factor);
const className = text => (text || "").replaceAll("_", " ");
const classOf = cls => className(what.classes[cls]);
let objectModel = 0, objectExaminer = 0;

const UNIT = { degrees: "°", diagonals: " diagonals" };
const unitOf = f => UNIT[(settings.factors.find(v => v.factor === f) || {}).unit] || "";

function conditionText(f, v) {
  const unit = unitOf(f), digits = unit === "°" ? 0 : 2;
  return `${factorName(f)} ${v.toFixed(digits).replace("-", "−")}${unit}`;
}

const conditions = (at, only = inSpace()) => only.filter(f => known(at[f])).map(f => conditionText(f, at[f])).join(", ");

// The searches of an object by an examiner, one a seed.
const searchesOf = (model, examiner, object) => Array.from({ length: settings.seeds }, (_, s) => study.searches[((model *
  examiners.length + examiner) * settings.seeds + s) * summaries[0].objects + object]);
const objectAt = (model, object) => searchesOf(model, 0, object)[0];

// Whether the model fails on an object, by all its searches.
const verdictOf = (model, object) => study.objects[model * summaries[0].objects + object];
const verdictText = v => v.search < 0 ? "no valid render"
  : `${v.fails ? ends : strength ? "not lasting" : "no lasting failure"}, p\u00a0${p3(v.p)}`;

// An object under an examiner: means over the seeds, and the search whose pictures are shown, that with the extreme robust p.
function objectUnder(model, examiner, object) {
  const own = searchesOf(model, examiner, object), last = own.map(lastOf), sign = strength ? -1 : 1;
  const rank = s => sign * (lastOf(s).robust ?? lastOf(s).lowest);
  const best = own.reduce((a, b) => rank(b) < rank(a) ? b : a), mean = {};
  for (const key of ["mean", "lowest", "lowest_valid", "robust", "valid", "inside"]) {
    const values = last.map(p => p[key]).filter(known);
    mean[key] = values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;
  }
  const strip = failures ? failures.strips.findIndex(s => s.search === best.unit) : -1, units = own.map(s => s.unit);
  return { ...mean, best, verdict: verdictOf(model, object), strip, scan: failures && failures.scans.find(s => units.includes(s.search)) };
}

const PICTURES = 6;          // rows of a strip

function shots(u) {
  if (u.strip < 0) return null;
  return h("div", { class: "shots" }, ...failures.strips[u.strip].pictures.map((s, k) => h("figure", {
    class: k ? null : "usual", title: conditions(s.at) }, Picture.show(PICTURES * u.strip + k, `${u.best.title}, p ${p3(s.p)}`, 84),
    h("figcaption", {}, `${k ? "" : "usual: "}p ${p3(s.p)}`))));
}

// ---- along the factors ----

function drawAxis(axis, at) {
  const from = axis.at[0], to = axis.at[axis.at.length - 1], W = 190, H = 84, box = { left: 24, right: 6, top: 6, bottom: 16 };
  const x = d3.scale.linear().domain([from, to]).range([box.left, W - box.right]);
  const y = d3.scale.linear().domain([0, 1]).range([H - box.bottom, box.top]);
  const host = h("div", { class: "axis" }, h("b", {}, factorName(axis.factor)));
  const svg = d3.select(host).append("svg").attr({ viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label":
    `p along ${factorName(axis.factor)}` });
  const low = known(axis.below) ? axis.below : from, high = known(axis.above) ? axis.above : to;
  const bounded = known(axis.below) || known(axis.above);
  if (bounded) svg.append("rect").attr({ class: "failing", x: Math.min(x(low), x(high)), width: Math.abs(x(high) - x(low)),
    y: box.top, height: H - box.top - box.bottom });
  for (const t of [0, 1]) {
    svg.append("line").attr({ class: "grid", x1: box.left, x2: W - box.right, y1: y(t), y2: y(t) });
    svg.append("text").attr({ x: box.left - 4, y: y(t) + 4, "text-anchor": "end" }).text(t);
  }
  svg.append("line").attr({ class: "fails", x1: box.left, x2: W - box.right, y1: y(settings.fails), y2: y(settings.fails) });
  const line = axis.p.map((p, i) => known(p) ? `${x(axis.at[i])},${y(p)}` : null).filter(Boolean);
  svg.append("path").attr({ class: "line", d: "M" + line.join("L") });
  if (known(at)) svg.append("line").attr({ class: "here", x1: x(at), x2: x(at), y1: box.top, y2: H - box.bottom });
  svg.append("text").attr({ x: box.left, y: H - 3 }).text(+from.toPrecision(3));
  svg.append("text").attr({ x: W - box.right, y: H - 3, "text-anchor": "end" }).text(+to.toPrecision(3));
  const unit = unitOf(axis.factor), say1 = v => `${+v.toPrecision(3)}${unit}`.replace("-", "−");
  host.append(h("span", {}, known(axis.below) && known(axis.above) ? `${ends} from ${say1(axis.below)} to ${say1(axis.above)}`
    : known(axis.below) ? `${ends} above ${say1(axis.below)}` : known(axis.above) ? `${ends} below ${say1(axis.above)}`
    : strength ? "no end in its range" : "no failure point in its range"));
  return host;
}

function scan(u) {
  if (!u.scan) return null;
  const box = h("div", { class: "axes" });
  const all = h("details", { ontoggle: () => {
    if (!all.open || box.childElementCount) return;
    for (const a of u.scan.axes) box.append(drawAxis(a, u.best.lowest_at[a.factor]));
    all.dataset.ready = "1";
  } }, h("summary", {}, `p along each factor, from the point of the ${extreme} p`), box);
  return all;
}

// ---- cards ----

function card(u) {
  const n = (title, v) => h("span", {}, `${title} `, h("b", {}, v)), o = u.best;
  return h("li", { class: "object" }, h("h3", {}, name(o.title || o.object), " ", h("small", {}, name(className(o.class)))),
    h("div", { class: "numbers" }, n("all searches, fresh renders", verdictText(u.verdict)),
      n("random", p3(o.mean_of_random_renders)), n(`robust ${extreme}`, p3(u.robust)),
      n(extreme, p3(u.lowest_valid)), n("mean of the last", p3(u.mean)), n("valid", whole(u.valid)),
      o.learned === undefined ? null : o.learned ? n("inside the region", whole(u.inside))
        : h("span", {}, "did not learn the region")),
    o.mesh ? h("p", { class: "hint" }, "Not drawn as its file says: ", name(o.mesh)) : null,
    shots(u), h("p", { class: "conditions" }, `${extreme} p at: ${conditions(o.lowest_at)}`), scan(u));
}

const FIRST = 24;

function objects(all = false) {
  const sign = strength ? -1 : 1, v = u => u.robust ?? u.lowest_valid ?? u.lowest;
  const own = Array.from({ length: summaries[0].objects }, (_, i) => objectUnder(objectModel, objectExaminer, i))
    .sort((a, b) => sign * (v(a) - v(b)));
  const first = all ? own : own.slice(0, FIRST);
  $("objects").replaceChildren(...first.map(card));
  $("object-more").replaceChildren(...(first.length < own.length ? [h("button", { type: "button", class: "small",
    onclick: () => objects(true) }, `Show all ${count(own.length)} objects`)] : []));
}

function objectBar() {
  const list = (title, names, set) => h("label", {}, title, h("select", { onchange: e => { set(+e.target.value); objects(); } },
    ...names.map((n, i) => h("option", { value: i }, n))));
  if (several) $("object-bar").append(list("model", models.map(m => m.name), i => { objectModel = i; }));
  if (examiners.length > 1) $("object-bar").append(list("examiner", examiners, i => { objectExaminer = i; }));
  $("object-hint").textContent = `Numbers are means over ${plural(settings.seeds, "seed")}; ` +
    (failures && failures.strips.length
    ? `pictures are of the search with the ${extreme} robust p: first a usual render, then the valid ones of ${extreme} p, each ` +
      "under other conditions. Point at one for its conditions."
    : "the run has no pictures of failing renders.") + ` The ${strength ? "strongest" : "weakest"} object comes first.`;
  const p = what.pictures;
  if (p && p.given < p.there)
    $("object-hint").append(` ${count(p.there - p.given)} of ${count(p.there)} pictures are left out: ` +
      (p.unreadable ? `${count(p.unreadable)} could not be read.` : "they do not fit into the page."));
}

// ---- licences ----

function credits() {
  const first = new Map(study.searches.map(s => [s.object, s]));
  const rows = [...first.values()].sort((a, b) => (a.author || "").localeCompare(b.author || "") || a.title.localeCompare(b.title));
  const unknown = rows.filter(o => !o.licence && !o.author).length;
  const text = v => h("td", {}, v ? name(v) : "not known");
  $("credits").append(h("p", { class: "hint" }, unknown === rows.length
    ? "The catalogue names no author and no licence. Ask before you publish pictures of these objects."
    : "Whoever publishes pictures of these objects names their authors and licences."),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Licences" }, h("table", {},
      h("thead", {}, h("tr", {}, ...["object", "class", "author", "licence"].map(t => h("th", { scope: "col" }, t)))),
      h("tbody", {}, ...rows.map(o => h("tr", {}, h("th", { scope: "row" }, name(o.title || o.object)), h("td", {},
        name(className(o.class))), text(o.author), text(o.licence)))))));
}
