// page_examine.js - the run of an examination: facts, the table of models and examiners, curves of p against renders spent. Its
// page is examine.html.

const $ = id => document.getElementById(id);
const models = what.models, strength = what.mode === "strength";
const extreme = strength ? "highest" : "lowest";
const fail = strength ? `have a p above ${what.fails}` : "fail", ends = strength ? `p above ${what.fails}` : "fails";
const failing = strength ? `renders with p above ${what.fails}` : "failures";
const known = v => v !== null && v !== undefined;
const p3 = v => !known(v) ? "–" : v < 0.0005 ? "<0.001" : v.toFixed(3);
const p1 = v => known(v) ? (100 * v).toFixed(0) + "\u00a0%" : "–";
const between = (i, digits = 3) => known(i[1]) ? `${i[1].toFixed(digits)} to ${i[2].toFixed(digits)}` : "";
const name = text => h("bdi", {}, text);
const colourOf = e => `var(--e${e % 8})`;
const lastOf = c => c.line[c.line.length - 1];
const curveOf = (model, examiner) => what.curves.find(c => c.model === model && c.examiner === examiner);
const several = models.length > 1;

function facts() {
  const fact = (title, value, note) =>
    $("facts").append(h("div", {}, h("dt", {}, title), h("dd", {}, h("b", {}, value), note ? h("span", {}, note) : null)));
  const each = what.examiners.map((_, e) => lastOf(curveOf(0, e)).renders);
  const [least, most] = [Math.min(...each), Math.max(...each)];
  const spent = each.reduce((a, b) => a + b, 0) * what.seeds * models.length * what.objects_of_a_model;
  $("source").textContent = what.source;
  fact("models", count(models.length));
  fact("examiners", count(what.examiners.length), plural(what.seeds, "seed") + " each");
  fact("objects of a model", count(what.objects_of_a_model), `of ${plural(what.classes.length, "class", "classes")}`);
  fact("renders of an object", least < most ? `${count(least)} to ${count(most)}` : count(most), "in a search");
  fact("renders, all", count(spent + (what.failures ? what.failures.spent_maps + what.failures.spent_scans : 0)),
    what.failures ? `${count(what.failures.spent_maps)} of them for maps` : null);
  const [answer, ...more] = what.summary;
  if (strength) $("title").textContent = "Under which conditions is the classifier best?";
  $("summary").append(h("p", { class: "answer" }, answer), h("ul", { class: "summary" }, ...more.map(t => h("li", {}, t))));
}

// ---- the table ----

function interval(v) {
  if (!v || !known(v[0])) return h("td", { class: "number" }, "–");
  return h("td", { class: "number" }, p3(v[0]), h("small", {}, h("br"), between(v)));
}

function tableColumns() {
  const inside = models.some(m => known(m.learned));
  const end = (title, about, key) => ({ name: title, about, number: true, key: c => lastOf(c)[key][0],
    cell: c => interval(lastOf(c)[key]) });
  return [
    { name: "model", key: c => models[c.model].name, cell: c => h("th", { scope: "row" }, name(models[c.model].name)) },
    { name: "examiner", key: c => what.examiners[c.examiner], cell: c => h("td", { class: "whole" },
      h("span", { class: "key-dot", style: `background:${colourOf(c.examiner)}` }), name(what.examiners[c.examiner])) },
    end("robust", `mean p of ${what.perturbed} renders around the ${extreme} valid p`, "robust"),
    end(extreme, `${extreme} p on valid renders`, "lowest"),
    end("mean", `mean p of the last ${what.window} renders that the examiner asked for`, "mean"),
    { name: "random", number: true, about: "mean p of random renders, the same for all examiners", key: c => models[c.model].start,
      cell: c => h("td", { class: "number" }, p3(models[c.model].start)) },
    { name: "valid", number: true, about: "share of its renders on which a person could still name the object",
      key: c => lastOf(c).valid, cell: c => h("td", { class: "number" }, p1(lastOf(c).valid)) },
    ...(inside ? [
      { name: "inside", number: true, about: "share of the last 100 renders in the planted region, over the objects that learned it",
        key: c => lastOf(c).inside[0], cell: c => h("td", { class: "number" }, p1(lastOf(c).inside[0]),
          known(lastOf(c).inside[1]) ? h("small", {}, h("br"), `${p1(lastOf(c).inside[1])} to ${p1(lastOf(c).inside[2])}`) : null) },
      { name: "found", number: true, about: "objects with 80\u00a0% or more of the last 100 renders in the planted region, in every search",
        key: c => c.learned ? c.found / c.learned : null,
        cell: c => h("td", { class: "number whole" }, c.learned ? `${c.found} of ${c.learned}` : "–") }] : []),
    { name: "renders", number: true, about: "spent on each object, with those that test a weakness", key: c => lastOf(c).renders,
      cell: c => h("td", { class: "number" }, count(lastOf(c).renders)) },
  ];
}

function table() {
  $("table").append(h("p", { class: "hint" }, "p of the true class after all renders; below each number its 95\u00a0% interval over " +
    "objects. Press a heading to sort."),
    sortable(tableColumns(), what.curves, "Models and examiners", 2, strength));
  for (const m of models)
    if (m.region) $("table").append(h("p", { class: "key-line" }, "Planted in ", name(m.name), `: ${m.region} ` +
      `(${p1(m.region_volume)} of the conditions); ${m.learned} of ${what.objects_of_a_model} objects learned it.`));
}

// ---- curves ----

const KINDS = [["robust", "robust", `Mean p of ${what.perturbed} renders around the ${extreme} valid p, each factor changed by ` +
    `${+(100 * what.perturb).toPrecision(3)}\u00a0% of its range: a weakness that a small change mends is none.`],
  ["lowest", extreme, `The ${extreme} p so far, on valid renders.`],
  ["mean", "mean", `Mean p of the last ${what.window} renders that the examiner asked for.`],
  ["inside", "inside the planted region", "Share of the last 100 renders in the planted region, of the objects that learned it."]];
let shownModel = 0, shownKind = "robust", logarithmic = false;

function curveBar() {
  const kinds = KINDS.filter(([k]) => what.curves.some(c => c.line.some(l => known(l[k][0]))));
  if (!kinds.some(([k]) => k === shownKind)) shownKind = kinds[0][0];
  if (several) $("curve-bar").append(h("label", {}, "model", h("select", { onchange: e => { shownModel = +e.target.value; curves(); } },
    ...models.map((m, i) => h("option", { value: i }, m.name)))));
  const buttons = h("div", { class: "row", role: "group", "aria-label": "number that the curves show" }, ...kinds.map(([k, title]) =>
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
  const own = what.curves.filter(c => c.model === shownModel), key = shownKind;
  const W = Math.max(320, Math.min(900, $("curves").clientWidth || 900)), H = Math.round(190 + 0.24 * W);
  const box = { left: 46, right: W < 560 ? 12 : 96, top: 10, bottom: 40 };
  const xs = [...new Set(own.flatMap(c => c.line.map(l => l.renders)))].sort((a, b) => a - b);
  const values = own.flatMap(c => c.line.flatMap(l => l[key])).filter(known);
  const log = logarithmic && key !== "inside";
  const top = Math.max(key === "inside" || strength ? 0.02 : 1.25 * what.fails, key === "mean" ? Math.max(...values, models[shownModel].start) : Math.max(...values));
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
  if (key !== "inside" && !strength) rule(what.fails, `a failure: p below ${what.fails}`);
  if (key === "mean") rule(models[shownModel].start, `random renders: ${p3(models[shownModel].start)}`);
  const ends = [];
  for (const c of own) {
    const line = c.line.filter(l => known(l[key][0])), colour = colourOf(c.examiner);
    if (!line.length) continue;
    const at = (l, k) => `${x(l.renders)},${y(place(l[key][k]))}`;
    if (known(line[0][key][1]))
      svg.append("path").attr({ class: "band", d: `M${line.map(l => at(l, 2)).join("L")}L${line.slice().reverse()
        .map(l => at(l, 1)).join("L")}Z` }).style("fill", colour);
    svg.append("path").attr({ class: "curve", d: `M${line.map(l => at(l, 0)).join("L")}` }).style("stroke", colour);
    for (const l of line) {
      const words = `${what.examiners[c.examiner]}, ${count(l.renders)} renders: ${p3(l[key][0])} (${between(l[key])})`;
      svg.append("circle").attr({ class: "knot", cx: x(l.renders), cy: y(place(l[key][0])), r: 4.5, tabindex: 0, role: "img",
        "aria-label": words }).style("fill", colour).append("title").text(words);
    }
    ends.push({ c, y: y(place(line[line.length - 1][key][0])) });
  }
  if (box.right > 20) {                                                // names at the ends, none over another
    ends.sort((a, b) => a.y - b.y).forEach((e, i) => { if (i) e.y = Math.max(e.y, ends[i - 1].y + 14); });
    for (const e of ends)
      svg.append("text").attr({ class: "name", x: W - box.right + 8, y: e.y + 4 }).style("fill", colourOf(e.c.examiner))
        .text(what.examiners[e.c.examiner].slice(0, 13));
  }
  $("curves").append(h("ul", { class: "keys" }, ...own.map(c => h("li", {}, h("span", { class: "key-dot",
    style: `background:${colourOf(c.examiner)}` }), name(what.examiners[c.examiner])))),
    h("p", { class: "key-line" }, KINDS.find(([k]) => k === key)[2] + " Bands: 95\u00a0% over objects." +
      (key !== "inside" && !strength ? ` Dashed: p below ${what.fails} is a failure` +
        (key === "mean" ? "; random renders." : ".") : "")));
}
