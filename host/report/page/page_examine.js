// page_examine.js - the run of an examination: facts, the table of models and examiners, curves of p against renders spent. Its
// page is examine.html.

const $ = id => document.getElementById(id);
const models = what.models, several = models.length > 1, examiners = what.examiners;
let study, failures = null, settings, summaries, strength, extreme, fail, ends, failing;
const p3 = v => !known(v) ? "–" : v < 0.0005 ? "<0.001" : v.toFixed(3);
const whole = v => known(v) ? (100 * v).toFixed(0) + "\u00a0%" : "–";
const between = (i, digits = 3) => known(i.low) ? `${i.low.toFixed(digits)} to ${i.high.toFixed(digits)}` : "";
const colourOf = e => `var(--e${e % 8})`;
const lastOf = c => c.curve[c.curve.length - 1];
const summaryOf = (model, examiner) => summaries[model * examiners.length + examiner];
const startOf = model => summaryOf(model, 0).mean_of_random_renders;

// The study's own documents.
async function load() {
  study = await Block.json(what.study);
  if (what.failures !== undefined) failures = await Block.json(what.failures);
  settings = study.settings;
  summaries = study.summaries.map((s, i) => ({ ...s, at: [Math.floor(i / examiners.length), i % examiners.length] }));
  strength = settings.mode === "strength", extreme = strength ? "highest" : "lowest";
  fail = strength ? `have a p above ${settings.fails}` : "fail", ends = strength ? `p above ${settings.fails}` : "fails";
  failing = strength ? `renders with p above ${settings.fails}` : "failures";
}

function facts() {
  const fact = (title, value, note) =>
    $("facts").append(h("div", {}, h("dt", {}, title), h("dd", {}, h("b", {}, value), note ? h("span", {}, note) : null)));
  const each = examiners.map((_, e) => lastOf(summaryOf(0, e)).renders), objects = summaries[0].objects;
  const [least, most] = [Math.min(...each), Math.max(...each)];
  const spent = each.reduce((a, b) => a + b, 0) * settings.seeds * models.length * objects;
  $("source").textContent = what.source;
  fact("models", count(models.length));
  fact("examiners", count(examiners.length), plural(settings.seeds, "seed") + " each");
  fact("objects of a model", count(objects), `of ${plural(what.classes.length, "class", "classes")}`);
  fact("renders of an object", least < most ? `${count(least)} to ${count(most)}` : count(most), "in a search");
  const maps = failures ? failures.renders_spent_on_maps : 0, scans = failures ? failures.renders_spent_on_scans : 0;
  const fresh = settings.of_them_to_test_a_weakness * study.searches.length;
  fact("renders, all", count(spent + fresh + maps + scans), failures ? `${count(maps)} of them for maps` : null);
  const [answer, ...more] = study.summary;
  if (strength) $("title").textContent = "Under which conditions is the classifier best?";
  $("summary").append(h("p", { class: "answer" }, answer), h("ul", { class: "summary" }, ...more.map(t => h("li", {}, t))));
}

// ---- the table ----

// The numbers of a search after all its renders, those of the curves first; the dots' colours are those of the curves.
function tableColumns() {
  const last = summaries.map(s => ({ ...s, ...lastOf(s) }));
  const first = kinds().map(([k]) => k), place = q => first.includes(q.name) ? first.indexOf(q.name) : first.length;
  const numbers = what.columns.filter(q => q.unit !== "text").sort((a, b) => place(a) - place(b));
  const found = s => s.learned_the_region ? s.found_the_region / s.learned_the_region : null;
  return [last, [
    { name: "model", key: s => s.model, cell: s => h("th", { scope: "row" }, name(s.model)) },
    { name: "examiner", key: s => s.examiner, cell: s => h("td", { class: "whole" },
      h("span", { class: "key-dot", style: `background:${colourOf(s.at[1])}` }), name(s.examiner)) },
    ...Quantity.columns(numbers, last),
    { name: "random", number: true, about: "mean p of random renders, the same for all examiners", key: s => startOf(s.at[0]),
      cell: s => h("td", { class: "number" }, p3(startOf(s.at[0]))) },
    ...(last.some(s => known(found(s))) ? [{ name: "found", number: true,
      about: "objects with 80\u00a0% or more of the last 100 renders in the planted region, in every search", key: found,
      cell: s => h("td", { class: "number whole" },
        known(found(s)) ? `${s.found_the_region} of ${s.learned_the_region}` : "–") }] : []),
  ]];
}

function table() {
  const [rows, columns] = tableColumns();
  $("table").append(h("p", { class: "hint" }, "p of the true class after all renders; below each number its 95\u00a0% interval " +
    "over objects. Press a heading to sort."), sortable(columns, rows, "Models and examiners", 2, strength));
  models.forEach((m, i) => {
    if (m.region) $("table").append(h("p", { class: "key-line" }, "Planted in ", name(m.name), `: ${m.region} ` +
      `(${whole(m.region_volume)} of the conditions); ${summaryOf(i, 0).learned_the_region} of ${summaries[0].objects} ` +
      "objects learned it."));
  });
}

// ---- curves ----

const kinds = () => ["robust", "lowest_valid", "mean", "inside"].map(n => what.columns.find(q => q.name === n))
  .map(q => [q.name, q.title, `${q.about[0].toUpperCase()}${q.about.slice(1)}.`]);
const numberOf = (l, key) => l[key] ? l[key].value : null;
let shownModel = 0, shownKind = "robust", logarithmic = false;

function curveBar() {
  const shown = kinds().filter(([k]) => summaries.some(s => s.curve.some(l => known(numberOf(l, k)))));
  if (!shown.some(([k]) => k === shownKind)) shownKind = shown[0][0];
  if (several) $("curve-bar").append(h("label", {}, "model", h("select", { onchange: e => { shownModel = +e.target.value; curves(); } },
    ...models.map((m, i) => h("option", { value: i }, m.name)))));
  const buttons = h("div", { class: "row", role: "group", "aria-label": "number that the curves show" }, ...shown.map(([k, title]) =>
    h("button", { type: "button", class: "small", "aria-pressed": String(k === shownKind), onclick: e => {
      shownKind = k;
      buttons.querySelectorAll("button").forEach(b => b.setAttribute("aria-pressed", String(b === e.target)));
      curves();
    } }, title)));
  $("curve-bar").append(buttons, h("label", {}, h("input", { type: "checkbox", onchange: e => { logarithmic = e.target.checked;
    curves(); } }), "logarithmic p"));
}

const LEAST = 1e-4;

function curves() {
  const own = summaries.filter(s => s.at[0] === shownModel), key = shownKind, start = startOf(shownModel);
  const W = Math.max(320, Math.min(900, $("curves").clientWidth || 900)), H = Math.round(190 + 0.24 * W);
  const box = { left: 46, right: W < 560 ? 12 : 96, top: 10, bottom: 40 };
  const xs = [...new Set(own.flatMap(c => c.curve.map(l => l.renders)))].sort((a, b) => a - b);
  const values = own.flatMap(c => c.curve.flatMap(l => l[key] ? Object.values(l[key]) : [])).filter(known);
  const log = logarithmic && key !== "inside";
  const top = Math.max(key === "inside" || strength ? 0.02 : 1.25 * settings.fails, ...values, key === "mean" ? start : 0);
  const place = v => log ? Math.max(LEAST, v) : v;
  const x = d3.scale.log().domain([Math.max(1, Math.min(...xs)) * 0.92, Math.max(...xs) * 1.04]).range([box.left, W - box.right]);
  const y = (log ? d3.scale.log().domain([Math.max(LEAST, Math.min(...values) / 1.2), Math.min(1, top * 1.15)])
                 : d3.scale.linear().domain([0, Math.min(1, top * 1.08)])).range([H - box.bottom, box.top]);
  const svg = d3.select($("curves")).html("").append("svg").attr({ viewBox: `0 0 ${W} ${H}`, role: "img",
    "aria-label": `${models[shownModel].name}: ${key} of every examiner against renders` });
  for (const t of log ? y.ticks(4).filter(t => /^[15]/.test(t.toExponential())) : y.ticks(6)) {
    svg.append("line").attr({ class: "grid", x1: box.left, x2: W - box.right, y1: y(t), y2: y(t) });
    svg.append("text").attr({ x: box.left - 7, y: y(t) + 4, "text-anchor": "end" }).text(String(+t.toPrecision(3)));
  }
  let free = -Infinity;
  for (const r of xs) {
    svg.append("line").attr({ class: "grid", x1: x(r), x2: x(r), y1: H - box.bottom, y2: H - box.bottom + 4 });
    if (x(r) - free < 34) continue;
    free = x(r);
    svg.append("text").attr({ x: x(r), y: H - box.bottom + 17, "text-anchor": "middle" }).text(count(r));
  }
  svg.append("text").attr({ x: (box.left + W - box.right) / 2, y: H - 5, "text-anchor": "middle" })
    .text("renders spent on an object");
  const rule = (v, title) => {
    if (v > y.domain()[1] || v < y.domain()[0]) return;
    svg.append("line").attr({ class: "fails", x1: box.left, x2: W - box.right, y1: y(v), y2: y(v) }).append("title").text(title);
  };
  if (key !== "inside" && !strength) rule(settings.fails, `a failure: p below ${settings.fails}`);
  if (key === "mean") rule(start, `random renders: ${p3(start)}`);
  const ends = [];
  for (const c of own) {
    const line = c.curve.filter(l => known(numberOf(l, key))), colour = colourOf(c.at[1]);
    if (!line.length) continue;
    const at = (l, k) => `${x(l.renders)},${y(place(l[key][k]))}`;
    if (known(line[0][key].low))
      svg.append("path").attr({ class: "band", d: `M${line.map(l => at(l, "high")).join("L")}L${line.slice().reverse()
        .map(l => at(l, "low")).join("L")}Z` }).style("fill", colour);
    svg.append("path").attr({ class: "curve", d: `M${line.map(l => at(l, "value")).join("L")}` }).style("stroke", colour);
    for (const l of line) {
      const words = `${c.examiner}, ${count(l.renders)} renders: ${p3(l[key].value)} (${between(l[key])})`;
      svg.append("circle").attr({ class: "knot", cx: x(l.renders), cy: y(place(l[key].value)), r: 4.5, tabindex: 0, role: "img",
        "aria-label": words }).style("fill", colour).append("title").text(words);
    }
    ends.push({ c, y: y(place(line[line.length - 1][key].value)) });
  }
  if (box.right > 20) {                                                // names at the ends, none over another
    ends.sort((a, b) => a.y - b.y).forEach((e, i) => { if (i) e.y = Math.max(e.y, ends[i - 1].y + 14); });
    for (const e of ends)
      svg.append("text").attr({ class: "name", x: W - box.right + 8, y: e.y + 4 }).style("fill", colourOf(e.c.at[1]))
        .text(e.c.examiner.slice(0, 13));
  }
  $("curves").append(h("ul", { class: "keys" }, ...own.map(c => h("li", {}, h("span", { class: "key-dot",
    style: `background:${colourOf(c.at[1])}` }), name(c.examiner)))),
    h("p", { class: "key-line" }, kinds().find(([k]) => k === key)[2] + " Bands: 95\u00a0% over objects." +
      (key !== "inside" && !strength ? ` Dashed: p below ${settings.fails} is a failure` +
        (key === "mean" ? "; random renders." : ".") : "")));
}
