// page_versions.js - two versions of a classifier on the same rows: verdicts, rates side by side, pictures of what changed.

const $ = id => document.getElementById(id);
const [BEFORE, NOW] = what.names, TILE = 64, STRIP = 12;
const name = u => h("bdi", {}, what.names[u]);
const wrong = (k, u) => u ? k.wrong_now : k.wrong_before;
const of = (k, u) => k.compared ? wrong(k, u) / k.compared : null;
const small = v => v === null ? "–" : v < 0.0001 && v > 0 ? v.toExponential(0) : String(+v.toPrecision(2));
const points = v => v === null ? "–" : `${v > 0 ? "+" : v < 0 ? "−" : "±"}${Math.abs(100 * v).toFixed(0)}`;
const className = k => k ?? "all classes";
const list = t => t.length > 1 ? `${t.slice(0, -1).join(", ")} and ${t.at(-1)}` : t.join("");

const SAID = {
  new: `new: ${NOW} is worse there, and ${BEFORE} had no blindspot`, worse: `worse: ${NOW} is worse there`,
  pending: "pending: these rows cannot tell", same: "same: no change is shown, and any is small",
  better: `better: ${NOW} is better there`, mended: `mended: ${NOW} is better there, and no longer above its class`,
};

// The p of the likelier direction.
const likelier = k => Math.min(k.p_worse ?? 1, k.p_better ?? 1);

// ---- the head ----

function lead() {
  const n = v => what.slices.filter(s => s.verdict === v).length, part = [];
  for (const v of ["new", "worse", "pending", "same", "better", "mended"]) if (n(v)) part.push(`${count(n(v))} ${v}`);
  const classes = what.whole.filter(k => k.verdict === "worse").map(k => className(k.class));
  const verdict = what.equal ? "Both versions have the same rows wrong. "
    : what.failed ? [name(1), " is worse than ", name(0), ". "]
      : ["Nothing is shown to be worse in ", name(1), " than in ", name(0), ". "];
  const slices = what.slices.length ? `Of ${plural(what.slices.length, "slice")}: ${list(part)}. `
    : "No blindspot of either version is confirmed, and no slice changed. ";
  $("lead").append(h("b", {}, ...[verdict].flat()), slices,
    classes.length ? `Worse as a whole: ${list(classes.slice(0, 5))}${classes.length > 5 ? ", …" : ""}. ` : "",
    what.outside ? `${plural(what.outside, "row")} outside these slices turned wrong.` : "");
}

function head() {
  const all = what.whole.find(k => k.class === null), about = [["Before", BEFORE], ["Now", NOW]];
  const titled = what.title !== "Two versions", title = titled ? what.title : `${BEFORE} → ${NOW}`;
  $("title").textContent = title;
  document.title = `${title} – Spotter`;
  if (what.data) about.push(["Data", what.data]);
  if (what.date) about.push(["Date", what.date]);
  about.push(["Rows", count(what.rows)]);
  if (all) about.push(["Error rate", `${percent(of(all, 0), 1)} → ${percent(of(all, 1), 1)}`]);
  $("names").append(...about.map(([k, v]) => h("span", {}, `${k}: `, h("bdi", {}, v))));
  $("source").append(h("bdi", {}, what.source));
  lead();
  notes();
}

function notes() {
  const p = what.pictures, out = [];
  if (p && p.unreadable)
    out.push([`${plural(p.unreadable, "picture")} could not be read: `, h("bdi", {}, (p.unreadable_named || []).join("; ")),
              p.unreadable > (p.unreadable_named || []).length ? "; …" : ""]);
  if (p && p.given + p.unreadable < p.there)
    out.push([`To stay small this page holds ${count(p.given)} of ${count(p.there)} pictures.`]);
  if (out.length) $("notes").append(h("ul", { class: "notes" }, ...out.map(t => h("li", {}, ...t))));
}

// ---- a slice ----

// A version's rate as a bar with the mark of its class.
function side(s, u) {
  const rate = of(s, u), base = u ? s.class_rate_now : s.class_rate_before;
  return h("div", {}, h("span", { class: "version-name" }, name(u), (u ? s.confirmed_now : s.confirmed_before) ? ", a confirmed blindspot" : ""),
    h("span", { class: "rate" }, percent(rate)), h("small", {}, ` wrong, ${count(wrong(s, u))} of ${count(s.compared)}`),
    h("span", { class: "bar-rate", "aria-hidden": "true" }, h("span", { class: "fill", style: `width:${100 * (rate || 0)}%` }),
      h("span", { class: "base", style: `left:${100 * (base || 0)}%` })),
    h("small", {}, `its class ${percent(base)}`));
}

function change(s) {
  const { value: v, low, high } = s.change;
  return h("div", { class: "by" }, h("b", {}, `${points(v)} points`),
    h("small", {}, low === null ? "" : `95 %: ${points(low)} to ${points(high)}`),
    h("small", {}, `${count(s.lost)} turned wrong, ${count(s.gained)} right`),
    h("small", {}, `p ${small(likelier(s))}, corrected`));
}

const GROUPS = [["Turned wrong", r => !r.wrong[0] && r.wrong[1]], ["Turned right", r => r.wrong[0] && !r.wrong[1]],
                ["Wrong in both", r => r.wrong[0] && r.wrong[1]]];

const taken = (r, u) => r.taken[u] < 0 ? null : what.classes[r.taken[u]];

function rowLabel(r) {
  const says = u => taken(r, u) === null ? (r.wrong[u] ? "wrong" : "right") : taken(r, u);
  return `${r.id}: ${className(r.class)}; ${BEFORE}: ${says(0)}; ${NOW}: ${says(1)}`;
}

function tile(r) {
  const text = rowLabel(r);
  return h("li", {}, h("span", { class: r.wrong[1] ? "tile wrong" : "tile", style: `width:${TILE}px`, title: text },
                       Picture.show(r.row, r.id, TILE, text)));
}

// Rows in groups by what became of them: pictures, or names.
function groups(rows, most) {
  const out = GROUPS.map(([title, is]) => [title, rows.filter(is)]).filter(([, r]) => r.length);
  const pictures = r => h("ul", { class: "gallery" }, ...r.slice(0, most).map(tile));
  const names = r => h("p", { class: "ids-list" }, r.length > most ? `${count(most)} of ${count(r.length)}: ` : "",
                       ...r.slice(0, most).flatMap((x, i) => [i ? ", " : null, h("bdi", {}, x.id)]));
  return h("div", { class: "groups" }, ...out.map(([title, r]) => h("div", {}, h("h3", {}, title),
                                                                     Picture.any ? pictures(r) : names(r))));
}

function table(rows, left) {
  const says = (r, u) => [r.wrong[u] ? "✕ " : "", h("bdi", {}, taken(r, u) ?? (r.wrong[u] ? "wrong" : "right"))];
  const body = () => h("div", { class: "scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, ...["id", "class"].map(t => h("th", { scope: "col" }, t)),
                     ...[0, 1].map(u => h("th", { scope: "col" }, name(u))))),
    h("tbody", {}, ...rows.map(r => h("tr", {}, h("td", {}, h("bdi", {}, r.id)), h("td", {}, h("bdi", {}, className(r.class))),
                                       ...[0, 1].map(u => h("td", {}, ...says(r, u))))))));
  const box = h("details", { ontoggle: () => { if (box.open && !box.querySelector("table")) box.append(body()); } },
    h("summary", {}, `Rows as a table${left ? ` (the first ${count(rows.length)} of ${count(rows.length + left)})` : ""}`));
  return box;
}

function card(s, i) {
  return h("li", {}, h("article", { class: "card version", "aria-label": `${SAID[s.verdict]}: ${className(s.class)} #${i + 1}` },
    h("div", { class: "line" }, h("span", { class: `verdict ${s.verdict}` }, s.verdict),
      h("b", { class: "where" }, h("bdi", {}, className(s.class)), ` #${i + 1}`),
      h("small", {}, `${plural(s.size, "row")}, ${count(s.compared)} compared`)),
    h("div", { class: "sides" }, side(s, 0), change(s), side(s, 1)),
    s.verdict === "pending" && s.enough
      ? h("p", { class: "hint" }, `The rows cannot tell: ${count(s.lost)} turned wrong and ${count(s.gained)} turned right. ` +
          `${count(s.enough)} that all turn the same way would decide; where rows turn both ways it takes more.`) : null,
    groups(s.shown, STRIP), table(s.shown, s.compared - s.shown.length)));
}

function slices() {
  $("slices-key").textContent = "A confirmed blindspot of either version, or a slice that changed, on rows that did not " +
    "choose it. Bar: error rate; the tick: that of the whole class. " + (Picture.any ? "✕: wrong now." : "");
  if (what.slices.length) $("slices").append(...what.slices.map(card));
  else $("slices").replaceWith(h("p", { class: "empty" }, "No blindspot of either version is confirmed, and no slice " +
    "changed. The classes as wholes are below."));
}

// ---- outside, and whole classes ----

function lost() {
  if (!what.outside) return;
  $("lost-part").hidden = false;
  $("lost").append(h("p", { class: "key-line" }, `${plural(what.outside, "row")} of no slice above, right in `, name(0),
                     " and wrong in ", name(1), ". Single rows: no test is made of them; the classes as wholes are tested below."),
                   groups(what.lost, 24), table(what.lost, what.outside - what.lost.length));
}

function whole() {
  const line = k => h("tr", {}, h("th", { scope: "row" }, h("bdi", {}, className(k.class))),
    h("td", {}, h("span", { class: `verdict ${k.verdict}` }, k.verdict)), h("td", { class: "number" }, count(k.compared)),
    ...[0, 1].map(u => h("td", { class: "number" }, percent(of(k, u), 1), h("small", {}, ` ${count(wrong(k, u))}`))),
    h("td", { class: "number" }, points(k.change.value)), h("td", { class: "number" }, count(k.lost)),
    h("td", { class: "number" }, count(k.gained)), h("td", { class: "number" }, small(likelier(k))));
  const head = ["class", "", "rows", what.names[0], what.names[1], "points", "turned wrong", "turned right", "p"];
  const order = ["worse", "pending", "same", "better"], rows = [...what.whole].sort((a, b) =>
    (a.class !== null) - (b.class !== null) || order.indexOf(a.verdict) - order.indexOf(b.verdict) || likelier(a) - likelier(b));
  $("whole").append(h("div", { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": "whole-title" }, h("table", {},
    h("thead", {}, h("tr", {}, ...head.map((t, i) => h("th", { scope: "col", class: i > 1 ? "number" : "" }, h("bdi", {}, t))))),
    h("tbody", {}, ...rows.map(line)))));
}

function help() {
  const p = (...t) => h("p", {}, ...t);
  $("help").append(
    p("Slices were found and tested in the errors of both versions together, so that the search could not know which version " +
      "made an error. One that is not confirmed is shown if it changed. Compared are rows that joined a slice by their features " +
      "alone, blind to the answers."),
    p("The test is McNemar’s, exact: of the rows that only one version has wrong, how many does the new one? ",
      `${plural(what.tests, "test")} in each direction, corrected together (Holm), at the level ${percent(what.level)}.`),
    h("ul", {}, ...Object.values(SAID).map(t => h("li", {}, t))),
    p(`Small: within ${(100 * what.margin).toFixed(0)} points. Only new and worse fail a gate; pending never does.`),
    p(`Made by Spotter ${what.spotter}. The page is whole in itself: it loads nothing and sends nothing.`));
}

async function start() {
  if (what.pictures && !window.DecompressionStream) throw new Error("this browser is too old; it needs one of 2023 or later");
  await Picture.load();
  head();
  slices();
  lost();
  whole();
  help();
  document.documentElement.dataset.ready = "1";
}

start().catch(e => {
  $("notes").append(h("p", { class: "notes" }, `The page could not be shown: ${e.message}`));
  throw e;
});
