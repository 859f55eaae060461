// page_matrix.js - variance matrices as pictures, their numbers, coverage and verdicts.

const MATRICES = ["confidence", "top neurons of the object", "greatest neuron", "mean of neurons"];    // of the scales
const STOPS = [[62, 30, 100], [60, 78, 138], [38, 120, 142], [50, 160, 122], [140, 205, 80], [250, 230, 60]];   // canvas.c's
let ownScale = false;

const kind = t => MATRICES.indexOf(t.of);
const caption = t => [t.of, `mean of the ${study.settings.top} neurons that the object alone triggers most`, t.of,
  "mean of all neurons"][kind(t)];
const scaleOf = (m, t) => (ownScale ? m.page.most : what.scale)[kind(t)];

function ramp(t) {
  const v = Math.min(1, Math.max(0, t)) * (STOPS.length - 1), i = Math.min(STOPS.length - 2, Math.floor(v));
  return STOPS[i].map((a, k) => a + (v - i) * (STOPS[i + 1][k] - a));
}

// The value of a cell, null: none; and whether points lie there. matrix: number among those that the model has.
function cellOf(m, data, matrix, y, x) {
  const side = m.page.side, half = side * (side + 1) / 2, [a, b] = x > y ? [x, y] : [y, x], i = a * (a + 1) / 2 + b;
  const v = data[matrix * half + i];
  return { value: v === 255 ? null : v / 254, points: data[m.matrices.length * half + i] === 1 };
}

function drawMatrix(canvas, m, data, matrix) {
  const t = m.matrices[matrix], side = m.page.side, zoom = Math.max(1, Math.round(384 / side)), most = scaleOf(m, t);
  canvas.width = canvas.height = side * zoom;
  const cx = canvas.getContext("2d"), image = cx.createImageData(canvas.width, canvas.height);
  for (let py = 0; py < canvas.height; py++)
    for (let px = 0; px < canvas.width; px++) {
      const { value, points } = cellOf(m, data, matrix, side - 1 - Math.floor(py / zoom), Math.floor(px / zoom));
      const stripe = !points && (px + py) % 9 < 2;
      const rgb = value === null ? [255, 255, 255] : ramp(most > 0 ? value * m.page.most[kind(t)] / most : 0);
      const at = 4 * (py * canvas.width + px);
      for (let c = 0; c < 3; c++) image.data[at + c] = stripe ? 255 - (255 - rgb[c]) / 4 : rgb[c];
      image.data[at + 3] = 255;
    }
  cx.putImageData(image, 0, 0);
}

function read(e, m, data, matrix) {
  const box = e.currentTarget.getBoundingClientRect(), side = m.page.side;
  const cell = v => Math.min(side - 1, Math.max(0, Math.floor(v * side)));
  const x = cell((e.clientX - box.left) / box.width), y = cell(1 - (e.clientY - box.top) / box.height);
  const { value, points } = cellOf(m, data, matrix, y, x), at = i => ((i + 0.5) / side * study.suite.range).toFixed(3);
  $("reading").textContent = `${m.model}, distances ${at(x)} and ${at(y)}: ` + (value === null ? "no value"
    : `difference ${(value * m.page.most[kind(m.matrices[matrix])]).toPrecision(3)}` +
      `${points ? "" : " (no points here: mean of the nearest ones)"}`);
}

function key(most) {
  return h("div", { class: "ramp-key" }, h("span", {}, "0"), h("i", { style: "background:linear-gradient(90deg," +
    STOPS.map(s => `rgb(${s})`).join(",") + ")" }), h("span", {}, known(most) ? most.toPrecision(3) : "–"));
}

async function matrixColumn(side) {
  const m = models[shown[side]], data = await Block.u8(m.page.matrices), box = h("div", {}, headOf(side));
  box.append(verdict(m));
  box.append(h("div", { class: "matrices" }, ...m.matrices.map((t, i) => {
    const canvas = h("canvas", { class: "variance", role: "img", "aria-label": `variance matrix of ${caption(t)}: ` +
      `mean ${one(t.features.mean, 3)}, greatest ${one(m.page.most[kind(t)], 3)}` });
    canvas.addEventListener("pointermove", e => read(e, m, data, i));
    drawMatrix(canvas, m, data, i);
    return h("figure", {}, canvas, key(scaleOf(m, t)), h("figcaption", {}, caption(t)));
  })));
  if (m.matrices.length === 1) box.append(h("p", { class: "hint" }, "The model gives no embedding: there is one matrix " +
    "alone, of confidence."));
  const covered = m.neuron_coverage;
  box.append(h("p", { class: "hint" }, covered.length ? "Neuron coverage, the share of channels that some blend activates " +
    "above: " + covered.map(v => `${v.above}: ${percent(v.share, 0)}`).join(", ") + ". A higher coverage does not prove a " +
      "better suite."
    : "The model gives no channels: neuron coverage is not known."));
  return box;
}

// Facts of a planted model, and the label that it has.
function truth(m) {
  const known_ = [];
  const v = m.page.verdict, planted = m.planted_reliance;
  if (v && known(v.given) && v.given >= 0) known_.push(`label ${what.labels[v.given]}`);
  if (known(planted)) known_.push(`planted reliance on the background ${planted.toFixed(2)}`);
  if (v && known(v.learned)) known_.push(`learned reliance ${v.learned.toFixed(2)}`);
  return known_.length ? h("p", { class: "hint" }, `Known of this model: ${known_.join(", ")}.`) : "";
}

function voteBar(v) {
  const text = what.labels.map((l, k) => `${l} ${percent(v.share[k], 0)}`).join(", ");
  return [h("div", { class: "vote", role: "img", "aria-label": `vote: ${text}` },
    ...v.share.map((s, k) => h("i", { class: `vote-${k}`, style: `width:${100 * s}%` }))),
    h("p", { class: "hint" }, `Vote: ${text}.`)];
}

function reasons(title, list) {
  if (!list.length) return "";
  return h("div", {}, h("b", {}, title), h("ul", {}, ...list.map(([f, value, effect]) =>
    h("li", {}, `${f} ${one(value, Math.abs(value) < 0.1 ? 4 : 2)} `, h("span", { class: "hint" },
      `${effect > 0 ? "+" : "−"}${Math.abs(100 * effect).toFixed(1)} points`)))));
}

function verdict(m) {
  const v = m.page.verdict;
  const gap = h("p", {}, "By its BG-gap alone: ", h("b", {}, m.dependence_on_the_background.words), ".");
  if (!v) return h("div", { class: "verdict" }, gap, truth(m));
  if (v.label < 0) return h("div", { class: "verdict" }, gap, h("p", {}, h("b", {}, "no verdict of the forest"), h("br"),
    `${v.words.replace("no verdict: ", "")}.`), truth(m));
  const sure = v.known ? "The forest was trained on this very model."
    : v.such ? `Such votes were right for ${v.right} of ${v.such} models that the forest was not trained on.` : "";
  return h("div", { class: "verdict" }, h("p", {}, h("b", {}, what.labels[v.label]), ` ${sure}`), ...voteBar(v),
    h("div", { class: "reasons" }, reasons("for it", v.reasons), reasons("against it", v.objections)), truth(m));
}

function features() {
  const columns = shown.flatMap((i, k) => models[i].matrices.map(t => [k, t]));
  const short = ["confidence", "top neurons", "greatest", "mean"], all = Object.keys(columns[0][1].features);
  $("features").replaceChildren(h("details", {}, h("summary", {}, `Numbers of the matrices: ${all.length} for each`),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Numbers of the matrices" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "feature"), ...columns.map(([k, t]) =>
        h("th", { scope: "col", class: "number" }, heads() ? h("span", { class: `key-dot side-${k}` }) : null,
          short[kind(t)])))),
      h("tbody", {}, ...all.map(f => h("tr", {}, h("th", { scope: "row" }, f), ...columns.map(([, t]) =>
        h("td", { class: "number" }, known(t.features[f]) ? t.features[f].toPrecision(4) : "–")))))))));
}

function aboutVerdicts() {
  $("verdicts").append(...what.about_verdicts.map(t => h("p", { class: "hint" }, t)));
}

async function drawMatrices() {
  const columns = await Promise.all(shown.map((m, k) => matrixColumn(k)));
  $("matrices").replaceChildren(...columns);
  features();
}

function matrixBar() {
  const axes = "Both axes of a matrix: distance of a blend to its original, from 0 (below, left) to " +
    `${study.suite.range.toPrecision(3)}. ` + "Point at a cell for its value.";
  if (models.length < 2) {
    $("matrix-bar").append(h("span", { class: "hint" }, axes));
    return;
  }
  const button = h("button", { class: "small", type: "button", "aria-pressed": "false", onclick: () => {
    ownScale = !ownScale;
    button.setAttribute("aria-pressed", ownScale);
    drawMatrices();
  } }, "own scale for each model");
  $("matrix-bar").append(button, h("span", { class: "hint" }, "otherwise the colours of all models of the run have one scale. "
    + axes));
}
