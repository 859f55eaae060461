// page_examine_objects.js - the objects of an examination: numbers, the usual render beside failing ones, the conditions of the
// lowest p, p along each factor; licences.

const objectOf = new Map(what.objects.map(o => [o.unit, o]));
const factorName = f => what.factor_names[f].replaceAll("_", " ");
const inSpace = what.factors.map(f => f.factor);
const classOf = cls => what.classes[cls] === undefined ? "" : what.classes[cls].replaceAll("_", " ");
let objectModel = 0, objectExaminer = 0, objectsShown = 0;

const UNIT = { degrees: "°", diagonals: " diagonals" };

function conditionText(f, v) {
  const unit = UNIT[what.units_of_factors[f]] || "", digits = unit === "°" ? 0 : 2;
  return `${factorName(f)} ${v.toFixed(digits).replace("-", "−")}${unit}`;
}

const conditions = (at, only = inSpace) => only.filter(f => known(at[f])).map(f => conditionText(f, at[f])).join(", ");

function shots(u, o) {
  if (!u.strip) return null;
  return h("div", { class: "shots" }, ...u.strip.map((s, k) => h("figure", { class: k ? null : "usual",
    title: conditions(s.at) }, Picture.show(u.row + k, `${o.title}, p ${p3(s.p)}`, 84),
    h("figcaption", {}, `${k ? "" : "usual: "}p ${p3(s.p)}`))));
}

// ---- along the factors ----

const STEPS = 33, NO_P = 65535;

async function drawAxis(axis, at) {
  const v = await Block.u16(axis.p), W = 190, H = 84, box = { left: 24, right: 6, top: 6, bottom: 16 };
  const x = d3.scale.linear().domain([axis.from, axis.to]).range([box.left, W - box.right]);
  const y = d3.scale.linear().domain([0, 1]).range([H - box.bottom, box.top]);
  const host = h("div", { class: "axis" }, h("b", {}, factorName(axis.factor)));
  const svg = d3.select(host).append("svg").attr({ viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label":
    `p along ${factorName(axis.factor)}` });
  const low = known(axis.below) ? axis.below : axis.from, high = known(axis.above) ? axis.above : axis.to;
  const bounded = known(axis.below) || known(axis.above);
  if (bounded) svg.append("rect").attr({ class: "failing", x: Math.min(x(low), x(high)), width: Math.abs(x(high) - x(low)),
    y: box.top, height: H - box.top - box.bottom });
  for (const t of [0, 1]) {
    svg.append("line").attr({ class: "grid", x1: box.left, x2: W - box.right, y1: y(t), y2: y(t) });
    svg.append("text").attr({ x: box.left - 4, y: y(t) + 4, "text-anchor": "end" }).text(t);
  }
  svg.append("line").attr({ class: "fails", x1: box.left, x2: W - box.right, y1: y(what.fails), y2: y(what.fails) });
  const step = i => axis.from + (axis.to - axis.from) * i / (STEPS - 1);
  const line = [];
  for (let i = 0; i < STEPS; i++) if (v[i] !== NO_P) line.push(`${x(step(i))},${y(v[i] / (NO_P - 1))}`);
  svg.append("path").attr({ class: "line", d: "M" + line.join("L") });
  if (known(at)) svg.append("line").attr({ class: "here", x1: x(at), x2: x(at), y1: box.top, y2: H - box.bottom });
  svg.append("text").attr({ x: box.left, y: H - 3 }).text(+axis.from.toPrecision(3));
  svg.append("text").attr({ x: W - box.right, y: H - 3, "text-anchor": "end" }).text(+axis.to.toPrecision(3));
  const unit = UNIT[what.units_of_factors[axis.factor]] || "", say1 = v => `${+v.toPrecision(3)}${unit}`.replace("-", "−");
  host.append(h("span", {}, known(axis.below) && known(axis.above) ? `${ends} from ${say1(axis.below)} to ${say1(axis.above)}`
    : known(axis.below) ? `${ends} above ${say1(axis.below)}` : known(axis.above) ? `${ends} below ${say1(axis.above)}`
    : strength ? "no end in its range" : "no failure point in its range"));
  return host;
}

function scan(u) {
  if (u.scan === undefined) return null;
  const scanned = what.failures.scans[u.scan], box = h("div", { class: "axes" });
  const all = h("details", { ontoggle: async () => {
    if (!all.open || box.childElementCount) return;
    for (const a of scanned.axes) box.append(await drawAxis(a, u.at[a.factor]));
    all.dataset.ready = "1";
  } }, h("summary", {}, `p along each factor, from the point of the ${extreme} p`), box);
  return all;
}

// ---- cards ----

function card(u) {
  const o = objectOf.get(u.object), n = (title, v) => h("span", {}, `${title} `, h("b", {}, v));
  return h("li", { class: "object" }, h("h3", {}, name(o.title || o.id), " ", h("small", {}, name(classOf(o.cls)))),
    h("div", { class: "numbers" }, n("random", p3(u.start)), n(`robust ${extreme}`, p3(u.robust)), n(extreme, p3(u.lowest_valid)),
      n("mean of the last", p3(u.mean)), n("valid", p1(u.valid)),
      u.learned === undefined ? null : u.learned ? n("inside the region", p1(u.inside)) : h("span", {}, "did not learn the region")),
    shots(u, o),
    h("p", { class: "conditions" }, `${extreme} p at: ${conditions(u.at)}`), scan(u));
}

const FIRST = 24;

function objects(all = false) {
  const sign = strength ? -1 : 1, v = u => known(u.robust) ? u.robust : known(u.lowest_valid) ? u.lowest_valid : u.lowest;
  const own = what.units.filter(u => u.model === objectModel && u.examiner === objectExaminer)
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
  if (what.examiners.length > 1)
    $("object-bar").append(list("examiner", what.examiners, i => { objectExaminer = i; }));
  $("object-hint").textContent = `Numbers are means over ${plural(what.seeds, "seed")}; ` + (what.units.some(u => u.strip)
    ? `pictures are of the search with the ${extreme} robust p: first a usual render, then the valid ones of ${extreme} p, each ` +
      "under other conditions. Point at one for its conditions."
    : "the run has no pictures of failing renders.") + " The weakest object comes first.";
  if (strength) $("object-hint").textContent = $("object-hint").textContent.replace("weakest", "strongest");
  const p = what.pictures;
  if (p && p.given < p.there)
    $("object-hint").append(` ${count(p.there - p.given)} of ${count(p.there)} pictures are left out: ` +
      (p.unreadable ? `${count(p.unreadable)} could not be read.` : "they do not fit into the page."));
}

// ---- licences ----

function credits() {
  const rows = [...what.objects].sort((a, b) => (a.author || "").localeCompare(b.author || "") || a.title.localeCompare(b.title));
  const unknown = rows.filter(o => !o.licence && !o.author).length;
  const text = v => h("td", {}, v ? name(v) : "not known");
  $("credits").append(h("p", { class: "hint" }, unknown === rows.length
    ? "The catalogue names no author and no licence. Ask before you publish pictures of these objects."
    : "Whoever publishes pictures of these objects names their authors and licences."),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Licences" }, h("table", {},
      h("thead", {}, h("tr", {}, ...["object", "class", "author", "licence"].map(t => h("th", { scope: "col" }, t)))),
      h("tbody", {}, ...rows.map(o => h("tr", {}, h("th", { scope: "row" }, name(o.title || o.id)), h("td", {},
        name(classOf(o.cls))), text(o.author), text(o.licence)))))));
}
