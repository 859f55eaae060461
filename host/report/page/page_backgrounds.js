// page_backgrounds.js - the run of a study of backgrounds: facts, the models, accuracies on every set, classes, the suite. Its
// page is backgrounds.html. Two models stand side by side: `shown` has their numbers, one alone where there is one.

const $ = id => document.getElementById(id);
const suite = what.suite, models = what.models;
const SET_NAMES = { "original": "original", "only-fg": "object alone (only-fg)", "no-fg": "without the object (no-fg)",
  "mixed-same": "background of the same class (mixed-same)", "mixed-rand": "background of any class (mixed-rand)",
  "mixed-next": "background of the next class (mixed-next)", "plain": "grey background (plain)", 
  "noise": "noise behind (noise)",
  "blurred": "blurred background (blurred)", "suite": "backgrounds of the suite (suite)" };
const at = name => what.sets.indexOf(name);
const known = v => v !== null && v !== undefined;
const p1 = v => known(v) ? (100 * v).toFixed(1).replace("-0.0", "0.0").replace("-", "−") : "–";
const between = i => known(i[1]) ? `${p1(i[1])} to ${p1(i[2])}` : "";
const one = (v, digits) => known(v) ? v.toFixed(digits).replace("-", "−") : "–";
const name = text => h("bdi", {}, text);
const byTurned = (() => {
  const order = models.map((m, i) => i), v = i => known(models[i].turned[0]) ? models[i].turned[0] : -1;
  return order.sort((a, b) => v(b) - v(a));
})();
let shown = models.length === 1 ? [0] : models.length === 2 ? [0, 1] : [byTurned[0], byTurned[byTurned.length - 1]];

function facts() {
  const fact = (title, value, note) =>
    $("facts").append(h("div", {}, h("dt", {}, title), h("dd", {}, h("b", {}, value), note ? h("span", {}, note) : null)));
  $("source").textContent = what.source;
  fact("models", count(models.length));
  fact("objects", count(suite.targets), `of ${plural(what.classes.length, "class", "classes")}`);
  fact("backgrounds of each", count(suite.n), `${count(suite.backgrounds)} different ones`);
  fact("choice", suite.choice);
  const [answer, ...more] = what.summary.map(t => t.replaceAll("(-", "(−"));
  $("summary").append(h("p", { class: "answer" }, answer), h("ul", { class: "summary" }, ...more.map(t => h("li", {}, t))));
}

// ---- the models ----

function share(v) {
  if (!v || !known(v[0])) return h("td", { class: "number" }, "–");
  return h("td", { class: "number" }, p1(v[0]), h("small", {}, h("br"), between(v)));
}

function modelColumns() {
  const of = (title, set, about) => models.some(m => known(m.accuracy[at(set)][0])) ? [{ name: title, about, number: true,
    key: m => m.accuracy[at(set)][0], cell: m => share(m.accuracy[at(set)]) }] : [];
  const some = f => models.some(m => known(f(m)));
  return [
    { name: "model", key: m => m.name, cell: m => h("th", { scope: "row" }, name(m.name)) },
    ...of("original", "original", "accuracy on the pictures as they are, %"),
    ...of("suite", "suite", "accuracy with the backgrounds of the suite, %"),
    { name: "turned", number: true, about: "objects right in the original that some background of the suite turns, %",
      key: m => m.turned[0], cell: m => share(m.turned) },
    { name: "worst case", number: true, about: "objects right in the original and with every background, %",
      key: m => m.steady[0], cell: m => share(m.steady) },
    ...(some(m => m.gap[0]) ? [{ name: "BG-gap", number: true, about: "mixed-same less mixed-rand, percentage points",
      key: m => m.gap[0], cell: m => share(m.gap) }] : []),
    ...of("mixed-same", "mixed-same", "accuracy with backgrounds of the same class, %"),
    ...of("mixed-rand", "mixed-rand", "accuracy with backgrounds of any class, %"),
    ...of("only-fg", "only-fg", "accuracy on the object before black, %"),
    ...of("no-fg", "no-fg", "accuracy where the object is black, %"),
    ...(what.verdicts ? [{ name: "verdict", key: m => m.verdict ? m.verdict.label : -1, cell: m =>
      h("td", { class: "whole" }, m.verdict && m.verdict.label >= 0 ? what.labels[m.verdict.label] : "none") }] : []),
    ...(some(m => m.reliance) ? [{ name: "planted", number: true, about: "planted reliance on the background, 0 to 1",
      key: m => m.reliance, cell: m => h("td", { class: "number" }, one(m.reliance, 2)) }] : []),
  ];
}

function table() {
  $("table").append(h("p", { class: "hint" }, "Per cent, and below it the 95 % interval." +
    (models.length > 1 ? " Press a heading to sort." : "")), 
    sortable(modelColumns(), models, "Models", models.length > 1 ? 3 : 0));
}

// ---- two models ----

function choose(redraw) {
  if (models.length < 2) return;
  const list = k => h("select", { "aria-label": `model ${k + 1}`, onchange: e => { shown[k] = +e.target.value; redraw(); } },
    ...models.map((m, i) => h("option", { value: i, selected: i === shown[k] }, m.name)));
  $("choose").append(...[0, 1].map(k => h("label", {}, h("span", { class: `key-dot side-${k}` }), k ? "and" : "compare",
    list(k))));
}

const heads = () => models.length > 1;
const headOf = k => heads() ? h("h3", { class: "model-name" }, h("span", { class: `key-dot side-${k}` }),
  name(models[shown[k]].name))
                            : null;

// Accuracies with their intervals, a line for each set, both models in it.
function drawSets() {
  const rows = what.sets.map((s, i) => [s, i]).filter(([, i]) => shown.some(m => known(models[m].accuracy[i][0])));
  const W = Math.max(320, Math.min(760, $("sets").clientWidth || 760)), small = W < 560, names = small ? 12 : 300;
  const step = small ? 46 : 16 + 14 * shown.length, H = rows.length * step + 34, x0 = names, x1 = W - 14;
  const svg = d3.select($("sets")).html("").append("svg").attr({ viewBox: `0 0 ${W} ${H}`, role: "img",
    "aria-label": "accuracy on every set" });
  const x = d3.scale.linear().domain([0, 1]).range([x0, x1]);
  for (let v = 0; v <= 10; v += small ? 2 : 1) {
    svg.append("line").attr({ class: "grid", x1: x(v / 10), x2: x(v / 10), y1: 0, y2: H - 26 });
    svg.append("text").attr({ x: x(v / 10), y: H - 9, "text-anchor": "middle" }).text(`${10 * v} %`);
  }
  rows.forEach(([set, i], r) => {
    const top = r * step;
    svg.append("text").attr({ x: small ? x0 : x0 - 12, y: top + (small ? 14 : step / 2 + 4), 
      "text-anchor": small ? "start" : "end", class: "set-name" }).text(SET_NAMES[set] || set);
    shown.forEach((m, k) => {
      const v = models[m].accuracy[i], y = small ? top + 24 + 10 * k : top + step / 2 + (k - (shown.length - 1) / 2) * 12;
      if (!known(v[0])) return;
      const g = svg.append("g").attr({ class: `side side-${k}`, tabindex: 0, "aria-label":
        `${models[m].name}, ${set}: ${p1(v[0])} % (${between(v)})` });
      g.append("title").text(`${models[m].name}, ${set}: ${p1(v[0])} % (${between(v)})`);
      if (known(v[1])) g.append("line").attr({ x1: x(v[1]), x2: x(v[2]), y1: y, y2: y });
      if (k) g.append("rect").attr({ x: x(v[0]) - 4.5, y: y - 4.5, width: 9, height: 9 });
      else g.append("circle").attr({ cx: x(v[0]), cy: y, r: 5 });
    });
  });
  $("sets").append(h("p", { class: "key-line" }, "Lines are 95 % intervals: Wilson’s over pictures; of the suite from a " +
    "bootstrap over objects. The sets are those of the Backgrounds Challenge, made from your pictures and masks."));
}

function example() {
  if (!what.example || !what.example.length) return;
  $("example").append(h("p", { class: "hint" }, "One object in every set:"), h("div", { class: "thumbs" },
    ...what.example.map(([set, row]) => h("figure", { class: "blend" }, Picture.show(row, what.names[row], 112),
      h("figcaption", {}, what.sets[set])))));
}

// ---- classes ----

const CLASSES = 40;

async function drawClasses() {
  const data = await Promise.all(shown.map(m => Block.i32(models[m].by_class)));
  const row = k => ({ name: what.classes[k], of: data.map(d => Array.from(d.subarray(6 * k, 6 * k + 6))) });
  const rate = (a, b) => b ? a / b : null;
  const cell = (a, b) => h("td", { class: "number", title: b ? `${count(a)} of ${count(b)}` : null }, p1(rate(a, b)));
  let rows = what.classes.map((c, k) => row(k));
  const all = rows.length;
  if (all > CLASSES) {
    rows.sort((a, b) => Math.max(...b.of.map(v => rate(v[4], v[1]) || 0)) - Math.max(...a.of.map(v => rate(v[4], v[1]) || 0)));
    rows = rows.slice(0, CLASSES);
  }
  const columns = [
    { name: "class", key: r => r.name, cell: r => h("th", { scope: "row" }, name(r.name.replaceAll("_", " "))) },
    { name: "objects", number: true, key: r => r.of[0][0], cell: r => h("td", { class: "number" }, count(r.of[0][0])) },
  ];
  shown.forEach((m, k) => {
    const mark = heads() ? ` ${"AB"[k]}` : "", whose = heads() ? `, ${models[m].name}` : "";
    const add = (title, about, a, b) => columns.push({ name: title + mark, about: about + whose, number: true,
      key: r => rate(r.of[k][a], r.of[k][b]), cell: r => cell(r.of[k][a], r.of[k][b]) });
    add("original", "accuracy on the original, %", 1, 0);
    add("suite", "accuracy with backgrounds of the suite, %", 3, 2);
    add("turned", "right in the original and turned by some background, %", 4, 1);
    add("worst case", "right in the original and with every background, %", 5, 0);
  });
  $("classes").replaceChildren(h("p", { class: "hint" }, "Per cent. " +
    (heads() ? `A: ${models[shown[0]].name}. B: ${models[shown[1]].name}. ` : "") + (all > CLASSES
    ? `The ${CLASSES} most turned classes of ${count(all)}; background.csv has all.` : "Point at a number for its counts.")),
    sortable(columns, rows, "Classes", 4));
}

// ---- the suite ----

function suiteWords() {
  const s = suite, list = [], out = s.small + s.large + s.empty, pairs = s.targets * s.n;
  list.push(`${count(s.targets)} objects, each before ${s.n} backgrounds chosen by “${s.choice}” from ` +
    `${count(s.backgrounds)} different ones: ${count(pairs)} blends, which every model saw. Semantic distance is by ` +
    `${s.encoder}.`);
  if (out) list.push(`${count(out)} pictures are left out; empty masks: ${count(s.empty)}, objects too small: ` +
    `${count(s.small)}, too large: ${count(s.large)}.`);
  if (s.inverted) list.push(`${count(s.inverted)} masks cover most of the border of their picture and may be inverted.`);
  if (s.with_class) list.push(`${count(s.with_class)} backgrounds are left out because they show one of the classes.`);
  if (s.own) list.push(`${plural(s.own, "time")} a background was the picture itself and was not taken.`);
  list.push(s.realness > 0
    ? `${count(s.unreal)} of ${count(pairs)} blends (${percent(s.unreal / pairs)}) are below the realness `
      + `of ${s.realness}: no candidate reached it, and the best one was taken.` : "Realness was not tested.");
  if (s.levels.some((v, i) => i && v)) list.push("Blends by level of their keyword in the ontology: " +
    s.levels.map((v, i) => `${i}: ${count(v)}`).join(", ") + ".");
  if (models.some(m => m.left_out)) list.push("Pictures that the matrices leave out, because their distance is beyond the " +
    "axes or a number is missing: " + 
    models.filter(m => m.left_out).slice(0, 5).map(m => `${m.name} ${count(m.left_out)}`).join(", ") + ".");
  $("suite").append(h("ul", { class: "summary" }, ...list.map(t => h("li", {}, t))));
  if (what.differs.length) $("suite").append(h("p", { class: "notes" }, "Settings that are not the paper’s, or that it does " +
    "not name: ",
    what.differs.join("; "), "."));
  $("figures").append(...what.figures.map(f => h("div", {}, h("h3", {}, f.title), h("figure", { class: "shift-figure" },
    h("img", { class: "figure", alt: f.title, src: `data:image/svg+xml;base64,${$("f" + f.element).textContent}` })))));
}
