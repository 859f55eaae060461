// page_pick.js - contact sheets: a person chooses a percentile for each shift, and the page makes the lines for the config.
// Its page is pick.html.

const $ = id => document.getElementById(id);
const chosen = new Map();

// A text of YAML in double quotes. JSON escapes the same way, but leaves some characters that YAML does not take as they are.
const quoted = text => JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g,
  c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

// The similarity of the percentile, cut to the digits that the config gets: a number that is not above the picture's.
const number = v => (Math.floor(v * 1e4) / 1e4).toFixed(4);

function lines() {
  const out = [`filter: {chosen_for: ${quoted(what.encoder)}}   # beside the other settings of filter`, "shifts:"];
  what.shifts.forEach((s, i) => {
    const k = chosen.get(i);
    const parts = s.settings.map(([key, value]) => `${key}: ${quoted(value)}`);
    if (s.style) parts.push("style: true");
    if (k !== undefined) parts.push(`threshold: ${number(s.levels[k].at)}`);
    else if (s.now > -1) parts.push(`threshold: ${s.now}`);
    const note = k !== undefined ? `percentile ${s.levels[k].percentile}` : s.now > -1 ? "as it was"
      : "no threshold chosen yet";
    out.push(`  - {${parts.join(", ")}}   # ${note}`);
  });
  return out.join("\n");
}

function update() {
  const left = what.shifts.filter((s, i) => !chosen.has(i) && !(s.now > -1) && s.levels.length).map(s => s.name);
  $("left").textContent = left.length ? `Without a threshold: ${left.join(", ")}.` : "Every shift has a threshold.";
  $("result").textContent = lines();
}

function choose(i, k) {
  chosen.set(i, k);
  document.querySelectorAll(`#shift-${i} .level`).forEach((e, j) => e.classList.toggle("below", j < k));
  update();
}

function level(s, i, k) {
  const l = s.levels[k];
  const size = innerWidth < 560 ? 70 : 84;
  const pictures = l.pictures.map(([row, similarity]) => h("figure", {}, Picture.show(row, what.names[row], size),
    h("figcaption", {}, similarity.toFixed(3))));
  return h("label", { class: "level" },
    h("span", { class: "level-name" },
      h("input", { type: "radio", name: `shift-${i}`, value: k, onchange: () => choose(i, k) }),
      h("span", {}, h("b", {}, `${l.percentile} %`), h("br"), h("small", {}, `threshold ${number(l.at)}`))),
    h("span", { class: "thumbs" }, ...pictures));
}

function sheet(s, i) {
  const now = s.now > -1 ? `; the threshold is ${s.now} now` : "";
  return h("section", { class: "at", id: `shift-${i}`, "aria-label": s.name },
    h("h3", {}, h("bdi", {}, s.name)),
    h("p", { class: "hint" }, `“${s.caption}”, ${plural(s.pictures, "picture")}${now}`),
    s.levels.length ? null : h("p", {}, "There are no pictures."), ...s.levels.map((l, k) => level(s, i, k)));
}

async function copy() {
  try {
    await navigator.clipboard.writeText(lines());
    say("Copied");
    $("copy").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren($("result"));
    $("copy").textContent = "Selected: press Ctrl+C";
  }
}

async function start() {
  await Picture.load();
  $("source").textContent = what.source;
  const p = what.pictures;
  if (p.given < p.there)
    $("notes").append(h("p", { class: "notes" }, `${count(p.given)} of ${count(p.there)} pictures are here` +
      (p.unreadable ? `; ${count(p.unreadable)} could not be read` : "; more do not fit into the page") + "."));
  $("jump").append(...what.shifts.map((s, i) => h("a", { href: `#shift-${i}` }, s.name)),
    h("a", { href: "#result" }, "lines for the config"));
  $("sheets").append(...what.shifts.map(sheet));
  $("copy").addEventListener("click", copy);
  update();
  document.documentElement.dataset.ready = "1";
}

start();
