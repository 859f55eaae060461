// page_matrix.js - variance matrices as pictures, their numbers, coverage and verdicts.

const MATRICES = ["confidence", `mean of the ${what.top} neurons that the object alone triggers most`, "greatest neuron",
  "mean of all neurons"];
const STOPS = [[62, 30, 100], [60, 78, 138], [38, 120, 142], [50, 160, 122], [140, 205, 80], [250, 230, 60]];   // canvas.c's
let ownScale = false;

function ramp(t) {
  const v = Math.min(1, Math.max(0, t)) * (STOPS.length - 1), i = Math.min(STOPS.length - 2, Math.floor(v));
  return STOPS[i].map((a, k) => a + (v - i) * (STOPS[i + 1][k] - a));
}

// The value of a cell, null: none; and whether points lie there. matrix: number among those that the model has.
function cellOf(m, data, matrix, y, x) {
  const half = m.side * (m.side + 1) / 2, [a, b] = x > y ? [x, y] : [y, x], i = a * (a + 1) / 2 + b;
  const has = m.features.filter(f => f.length).length, v = data[matrix * half + i];
  return { value: v === 255 ? null : v / 254, points: data[has * half + i] === 1 };
}

function drawMatrix(canvas, m, data, k, matrix) {
  const side = m.side, zoom = Math.max(1, Math.round(384 / side)), most = ownScale ? m.most[k] : what.scale[k];
  canvas.width = canvas.height = side * zoom;
  const cx = canvas.getContext("2d"), image = cx.createImageData(canvas.width, canvas.height);
  for (let py = 0; py < canvas.height; py++)
    for (let px = 0; px < canvas.width; px++) {
      const { value, points } = cellOf(m, data, matrix, side - 1 - Math.floor(py / zoom), Math.floor(px / zoom));
      const stripe = !points && (px + py) % 9 < 2;
      const rgb = value === null ? [255, 255, 255] : ramp(most > 0 ? value * m.most[k] / most : 0);
      const at = 4 * (py * canvas.width + px);
      for (let c = 0; c < 3; c++) image.data[at + c] = stripe ? 255 - (255 - rgb[c]) / 4 : rgb[c];
      image.data[at + 3] = 255;
    }
  cx.putImageData(image, 0, 0);
}

function read(e, m, data, k, matrix) {
  const box = e.currentTarget.getBoundingClientRect(), cell = v => Math.min(m.side - 1, Math.max(0, Math.floor(v * m.side)));
  const x = cell((e.clientX - box.left) / box.width), y = cell(1 - (e.clientY - box.top) / box.height);
  const { value, points } = cellOf(m, data, matrix, y, x), at = i => ((i + 0.5) / m.side * suite.range).toFixed(3);
  $("reading").textContent = `${m.name}, distances ${at(x)} and ${at(y)}: ` + (value === null ? "no value"
    : `difference ${(value * m.most[k]).toPrecision(3)}${points ? "" : " (no points here: mean of the nearest ones)"}`);
}

function key(most) {
  return h("div", { class: "ramp-key" }, h("span", {}, "0"), h("i", { style: "background:linear-gradient(90deg," +
    STOPS.map(s => `rgb(${s})`).join(",") + ")" }), h("span", {}, known(most) ? most.toPrecision(3) : "–"));
}

async function matrixColumn(side) {
  const m = models[shown[side]], data = await Block.u8(m.matrices), box = h("div", {}, headOf(side));
  let matrix = 0;
  box.append(verdict(m));
  const grid = h("div", { class: "matrices" });
  for (let k = 0; k < MATRICES.length; k++) {
    if (!m.features[k].length) continue;
    const which = matrix++, most = ownScale ? m.most[k] : what.scale[k];
    const canvas = h("canvas", { class: "variance", role: "img", "aria-label":
      `variance matrix of ${MATRICES[k]}: mean ${one(m.features[k][0], 3)}, greatest ${one(m.most[k], 3)}` });
    canvas.addEventListener("pointermove", e => read(e, m, data, k, which));
    drawMatrix(canvas, m, data, k, which);
    grid.append(h("figure", {}, canvas, key(most), h("figcaption", {}, MATRICES[k])));
  }
  box.append(grid);
  if (matrix === 1) box.append(h("p", { class: "hint" }, "The model gives no embedding: there is one matrix alone, of " +
    "confidence."));
  const covered = m.coverage.some(known);
  box.append(h("p", { class: "hint" }, covered ? "Neuron coverage, the share of channels that some blend activates above: " +
    m.coverage.map((v, i) => `${what.thresholds[i]}: ${percent(v, 0)}`).join(", ") + ". A higher coverage does not prove a " +
      "better suite."
    : "The model gives no channels: neuron coverage is not known."));
  return box;
}

// What is known of a planted model, and the label that it has.
function truth(m) {
  const known_ = [];
  if (m.verdict && known(m.verdict.given) && m.verdict.given >= 0) known_.push(`label ${what.labels[m.verdict.given]}`);
  if (known(m.reliance)) known_.push(`planted reliance on the background ${m.reliance.toFixed(2)}`);
  if (m.verdict && known(m.verdict.learned)) known_.push(`learned reliance ${m.verdict.learned.toFixed(2)}`);
  return known_.length ? h("p", { class: "hint" }, `Known of this model: ${known_.join(", ")}.`) : "";
}

function voteBar(v) {
  const text = what.labels.map((l, k) => `${l} ${percent(v.share[k], 0)}`).join(", ");
  return [h("div", { class: "vote", role: "img", "aria-label": `vote: ${text}` },
    ...v.share.map((s, k) => h("i", { class: `vote-${k}`, style: `width:${100 * s}%` }))), h("p", { class: "hint" }, `Vote: ${text}.`)];
}

function reasons(title, list) {
  if (!list.length) return "";
  return h("div", {}, h("b", {}, title), h("ul", {}, ...list.map(([f, value, effect]) =>
    h("li", {}, `${f} ${one(value, Math.abs(value) < 0.1 ? 4 : 2)} `, h("span", { class: "hint" },
      `${effect > 0 ? "+" : "−"}${Math.abs(100 * effect).toFixed(1)} points`)))));
}

function verdict(m) {
  const v = m.verdict;
  if (!v) return truth(m);
  if (v.label < 0) return h("div", { class: "verdict" }, h("p", {}, h("b", {}, "no verdict"), h("br"),
    `${v.words.replace("no verdict: ", "")}.`), truth(m));
  const sure = v.known ? "The forest was trained on this very model."
    : v.such ? `Such votes were right for ${v.right} of ${v.such} models that the forest was not trained on.` : "";
  return h("div", { class: "verdict" }, h("p", {}, h("b", {}, what.labels[v.label]), ` ${sure}`), ...voteBar(v),
    h("div", { class: "reasons" }, reasons("for it", v.reasons), reasons("against it", v.objections)), truth(m));
}

function features() {
  const columns = shown.flatMap((i, k) => MATRICES.map((t, q) => [i, k, q])).filter(([i, , q]) => models[i].features[q].length);
  const short = ["confidence", "top neurons", "greatest", "mean"];
  $("features").replaceChildren(h("details", {}, h("summary", {}, `Numbers of the matrices: ${what.features.length} for each`),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Numbers of the matrices" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "feature"), ...columns.map(([i, k, q]) =>
        h("th", { scope: "col", class: "number" }, heads() ? h("span", { class: `key-dot side-${k}` }) : null, short[q])))),
      h("tbody", {}, ...what.features.map((f, r) => h("tr", {}, h("th", { scope: "row" }, f), ...columns.map(([i, , q]) =>
        h("td", { class: "number" }, known(models[i].features[q][r]) ? models[i].features[q][r].toPrecision(4) : "–")))))))));
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
    `${suite.range.toPrecision(3)}. ` + "Point at a cell for its value.";
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
