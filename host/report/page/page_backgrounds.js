// page_backgrounds.js - the run of a study of backgrounds: facts, the models, accuracies on every set, classes, the suite. Its
// page is backgrounds.html. Two models stand side by side: `shown` has their numbers, one alone where there is one.

const $ = id => document.getElementById(id);
const SET_NAMES = { "original": "original", "only-fg": "object alone (only-fg)", "no-fg": "without the object (no-fg)",
  "mixed-same": "background of the same class (mixed-same)", "mixed-rand": "background of any class (mixed-rand)",
  "mixed-next": "background of the next class (mixed-next)", "plain": "grey background (plain)",
  "noise": "noise behind (noise)", "blurred": "blurred background (blurred)",
  "only-bg-b": "object's box black (only-bg-b)", "only-bg-t": "object tiled over (only-bg-t)",
  "noise-fg": "noise on the object (noise-fg)", "noise-bg": "noise on the background (noise-bg)",
  "suite": "backgrounds of the suite (suite)" };
const TURNED = "turned_by_some_background";
let study, models, classes, shown;

// The study's own document. What only the page has of a model is its `page`.
async function load() {
  study = await Block.json(what.study);
  models = study.models.map((m, i) => ({ ...m, page: what.models[i] }));
  classes = models[0].classes.map(c => c.class);
  const v = i => models[i][TURNED].value ?? -1, order = models.map((m, i) => i).sort((a, b) => v(b) - v(a));
  shown = models.length === 1 ? [0] : models.length === 2 ? [0, 1] : [order[0], order[order.length - 1]];
}

function facts() {
  const fact = (title, value, note) =>
    $("facts").append(h("div", {}, h("dt", {}, title), h("dd", {}, h("b", {}, value), note ? h("span", {}, note) : null)));
  $("source").textContent = what.source;
  fact("models", count(models.length));
  fact("objects", count(study.suite.targets), `of ${plural(classes.length, "class", "classes")}`);
  fact("backgrounds of each", count(study.suite.backgrounds_of_a_target),
    `${count(study.suite.different_backgrounds)} different ones`);
  fact("choice", study.suite.choice);
  const [answer, ...more] = study.summary.map(t => t.replaceAll("(-", "(−"));
  $("summary").append(h("p", { class: "answer" }, answer), h("ul", { class: "summary" }, ...more.map(t => h("li", {}, t))));
}

// ---- the models ----

function modelColumns() {
  const columns = Quantity.columns(what.columns, models);
  if (what.verdicts) columns.push({ name: "verdict", key: m => m.page.verdict ? m.page.verdict.label : -1, cell: m =>
    h("td", { class: "whole" }, m.page.verdict && m.page.verdict.label >= 0 ? what.labels[m.page.verdict.label]
      : `none; by the BG-gap: ${m.dependence_on_the_background.verdict}`) });
  return columns;
}

function table() {
  const columns = modelColumns(), first = models.length > 1 ? columns.findIndex(c => c.id === TURNED) : 0;
  $("table").append(h("p", { class: "hint" }, "Per cent, and below it the 95 % interval." +
    (models.length > 1 ? " Press a heading to sort." : "")), sortable(columns, models, "Models", Math.max(0, first)));
}

// ---- two models ----

function choose(redraw) {
  if (models.length < 2) return;
  const list = k => h("select", { "aria-label": `model ${k + 1}`, onchange: e => { shown[k] = +e.target.value; redraw(); } },
    ...models.map((m, i) => h("option", { value: i, selected: i === shown[k] }, m.model)));
  $("choose").append(...[0, 1].map(k => h("label", {}, h("span", { class: `key-dot side-${k}` }), k ? "and" : "compare",
    list(k))));
}

const heads = () => models.length > 1;
const headOf = k => heads() ? h("h3", { class: "model-name" }, h("span", { class: `key-dot side-${k}` }),
  name(models[shown[k]].model))
                            : null;

// Accuracies with their intervals, a line for each set, both models in it.
function drawSets() {
  const of = (m, set) => models[m].sets[set] && models[m].sets[set].accuracy;
  const share = { unit: "share" }, rows = Object.keys(SET_NAMES).filter(s => shown.some(m => of(m, s)));
  const W = Math.max(320, Math.min(760, $("sets").clientWidth || 760)), small = W < 560, names = small ? 12 : 300;
  const step = small ? 46 : 16 + 14 * shown.length, H = rows.length * step + 34, x0 = names, x1 = W - 14;
  const svg = d3.select($("sets")).html("").append("svg").attr({ viewBox: `0 0 ${W} ${H}`, role: "img",
    "aria-label": "accuracy on every set" });
  const x = d3.scale.linear().domain([0, 1]).range([x0, x1]);
  for (let v = 0; v <= 10; v += small ? 2 : 1) {
    svg.append("line").attr({ class: "grid", x1: x(v / 10), x2: x(v / 10), y1: 0, y2: H - 26 });
    svg.append("text").attr({ x: x(v / 10), y: H - 9, "text-anchor": "middle" }).text(`${10 * v} %`);
  }
  rows.forEach((set, r) => {
    const top = r * step;
    svg.append("text").attr({ x: small ? x0 : x0 - 12, y: top + (small ? 14 : step / 2 + 4), 
      "text-anchor": small ? "start" : "end", class: "set-name" }).text(SET_NAMES[set]);
    shown.forEach((m, k) => {
      const v = of(m, set), y = small ? top + 24 + 10 * k : top + step / 2 + (k - (shown.length - 1) / 2) * 12;
      if (!v) return;
      const title = `${models[m].model}, ${set}: ${p1(v.value)} % (${Quantity.between(share, v)})`;
      const g = svg.append("g").attr({ class: `side side-${k}`, tabindex: 0, "aria-label": title });
      g.append("title").text(title);
      if (known(v.low)) g.append("line").attr({ x1: x(v.low), x2: x(v.high), y1: y, y2: y });
      if (k) g.append("rect").attr({ x: x(v.value) - 4.5, y: y - 4.5, width: 9, height: 9 });
      else g.append("circle").attr({ cx: x(v.value), cy: y, r: 5 });
    });
  });
  $("sets").append(h("p", { class: "key-line" }, "Lines are 95 % intervals: Wilson’s over pictures; of the suite from a " +
    "bootstrap over objects. The sets are those of the Backgrounds Challenge, with noise on a part of the picture as in " +
    "RIVAL10 (a quarter of the range), made from your pictures and masks."));
}

function example() {
  if (!what.example || !what.example.length) return;
  $("example").append(h("p", { class: "hint" }, "One object in every set:"), h("div", { class: "thumbs" },
    ...what.example.map(([set, row]) => h("figure", { class: "blend" }, Picture.show(row, what.names[row], 112),
      h("figcaption", {}, set)))));
}

// ---- classes ----

const CLASSES = 40;

function drawClasses() {
  const of = k => shown.map(m => models[m].classes[k]), share = (c, key) => known(c[key]) ? c[key].value : null;
  const worst = r => Math.max(...r.of.map(c => share(c, "turned") || 0));
  let rows = classes.map((c, k) => ({ name: c, of: of(k) }));
  const all = rows.length;
  if (all > CLASSES) rows = rows.sort((a, b) => worst(b) - worst(a)).slice(0, CLASSES);
  const columns = [
    { name: "class", key: r => r.name, cell: r => h("th", { scope: "row" }, name(r.name.replaceAll("_", " "))) },
    { name: "objects", number: true, key: r => r.of[0].targets,
      cell: r => h("td", { class: "number" }, count(r.of[0].targets)) },
  ];
  const right = c => Math.round(share(c, "original") * c.targets);
  shown.forEach((m, k) => {
    const mark = heads() ? ` ${"AB"[k]}` : "", whose = heads() ? `, ${models[m].model}` : "";
    const add = (title, about, key, n) => columns.push({ name: title + mark, about: about + whose, number: true,
      key: r => share(r.of[k], key), cell: r => { const v = share(r.of[k], key), of = n(r.of[k]);
        return h("td", { class: "number", title: of ? `${count(Math.round(v * of))} of ${count(of)}` : null }, p1(v)); } });
    add("original", "accuracy on the original, %", "original", c => c.targets);
    add("suite", "accuracy with backgrounds of the suite, %", "suite", c => c.targets * study.suite.backgrounds_of_a_target);
    add("turned", "right in the original and turned by some background, %", "turned", right);
    add("worst case", "right in the original and with every background, %", "worst_case", c => c.targets);
  });
  $("classes").replaceChildren(h("p", { class: "hint" }, "Per cent. " +
    (heads() ? `A: ${models[shown[0]].model}. B: ${models[shown[1]].model}. ` : "") + (all > CLASSES
    ? `The ${CLASSES} most turned classes of ${count(all)}; background.csv has all.` : "Point at a number for its counts.")),
    sortable(columns, rows, "Classes", 4));
}

// ---- the suite ----

function suiteWords() {
  const list = texts => h("ul", { class: "summary" }, ...texts.map(t => h("li", {}, t)));
  $("suite").append(list(study.notes));
  if (study.not_the_papers.length) $("suite").append(h("div", { class: "notes" },
    "Settings that are not the paper’s, or that it does not name:", list(study.not_the_papers)));
  $("figures").append(...what.figures.map(f => h("div", {}, h("h3", {}, f.title), h("figure", { class: "shift-figure" },
    h("img", { class: "figure", alt: f.title, src: `data:image/svg+xml;base64,${$("f" + f.element).textContent}` })))));
}
