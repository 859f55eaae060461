// page_versions_judged.js - all rows, classes and guards as a table, how the versions were judged, and the start of the page.

// The change, in points, from which rows would be called worse: what worse is above, and the corrected half-width.
const mustMove = k => k.corrected.low === null ? null : k.change.value - k.corrected.low + k.beyond;

const needs = k => k.verdict !== "pending" ? ""
  : k.needed ? `needs ${roughly(k, k.needed)}` : "no number of rows decides";

function whole() {
  const number = (...t) => h("td", { class: "number" }, ...t);
  const line = x => {
    const k = x.k;
    return h("tr", {}, h("th", { scope: "row" }, ...partName(x)),
      h("td", {}, h("span", { class: `verdict ${k.verdict}` }, k.verdict), h("small", { class: "needs" }, needs(k))),
      number(count(k.compared), k.groups ? h("small", {}, ` in ${plural(k.groups, "group")}`) : ""),
      ...[0, 1].map(u => number(percent(rate(k, u), 1))), number(points(k.change.value)),
      number(points(k.corrected.low)), number(points(k.corrected.high)), number(points(mustMove(k))),
      number(count(k.lost)), number(count(k.gained)), number(small(isBetter(x) ? k.p_better : k.p_worse)));
  };
  const head = ["rows, classes, guards", "", "rows", name(0), name(1), "change", "low end", "high end", "worse from about",
                "turned wrong", "turned right", "p"];
  const order = ["worse", "better", "pending", "same"], rank = x => order.indexOf(x.k.verdict);
  const sorted = kind => parts.filter(x => x.kind === kind).sort((a, b) => rank(a) - rank(b));
  const titles = head.map((t, i) => h("th", { scope: "col", class: i > 1 ? "number" : "" }, t));
  $("whole").append(h("div", { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": "whole-title" },
    h("table", {}, h("thead", {}, h("tr", {}, ...titles)),
      h("tbody", {}, ...["all rows", "class", "guard"].flatMap(sorted).map(line)))),
  h("p", { class: "key-line" }, "Change: points, the error rate now less before. Low and high end: corrected; worse looks at " +
    "the low one, same at the high one. Worse from about: the change that would be called worse on these rows. p: of better " +
    "where the verdict is better, else of worse; corrected."));
}

// ---- how it was judged ----

// The least and the most of what classes must move by.
function mustMoveBy() {
  const of = kind => parts.filter(x => x.kind === kind).map(x => mustMove(x.k)).filter(v => v !== null);
  const range = v => {
    const [least, most] = [Math.min(...v), Math.max(...v)].map(points);
    return least === most ? least : `${least} to ${most}`;
  };
  return list([["all rows", "all rows"], ["a class", "class"], ["a guard", "guard"]].filter(([, kind]) => of(kind).length)
    .map(([word, kind]) => `${range(of(kind))} for ${word}`));
}

function trainingsSaid() {
  const must = mustMoveBy(), how = must ? ` Here worse begins at a change of about, in points, ${must}.` : "";
  if (!retrain.files)
    return ["An equal training moves classes by a few points, too. No further training of ", name(0), " was given " +
      `(--retrain) to measure by how many here.${how}`];
  return [`Before is the mean of ${count(trainings)} trainings of `, name(0), ". Between two of them a class of the usual " +
    `size moves by up to ${(100 * retrain.move).toFixed(1)} points, in 95 % of pairs. `,
    what.beyond < what.margin ? "Worse and better are changes of more than these trainings differ by."
      : `${plural(retrain.files, "further training")} tell${retrain.files === 1 ? "s" : ""} little; from 3 on their spread ` +
        "takes the place of the margin in worse and better.", how];
}

const FEATURES = {
  neutral: () => ["Slices were searched in features of neither version. They take no side."],
  both: () => ["Slices were searched in features of ", name(0), " and ", name(1), " together, which enter alike: exchanging " +
    "the versions gives the same slices, with better and worse exchanged."],
  "version 1": () => ["Slices were searched in one source of features, that of ", name(0), ". If it is the last layer of ",
    name(0), ", slices lean towards better: what lies beyond a border of that network can only get better in another one. " +
    "All rows, classes and guards do not depend on it."],
};

function levels() {
  const line = l => h("tr", {}, h("th", { scope: "row" }, l.level), h("td", { class: "number" }, count(l.tests)),
                      h("td", { class: "number" }, `${(100 * what.level * l.share).toFixed(2)} %`));
  return h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "level"),
    ...["tests", "chance of a false “worse”"].map(t => h("th", { scope: "col", class: "number" }, t)))),
    h("tbody", {}, ...what.levels.map(line))));
}

// How far slices move by themselves.
function moved() {
  const x = what.log_odds;
  if (!x?.degrees_of_freedom) return [];
  const middle = (x.middle < 0 ? "−" : "+") + Math.abs(x.middle).toPrecision(2), n = x.slices_as_others;
  return [p("An equal training turns rows that look alike together. So a slice is worse or better only if the log odds of its " +
    `rows' classes, too, changed by more than those of ${plural(x.slices, "slice")} here: ${middle} (median), with a standard ` +
    `deviation of ${x.spread.toPrecision(2)}. ` +
    (n ? `${plural(n, "slice")} changed in errors alone, and ${n === 1 ? "is" : "are"} pending.`
      : "No slice changed in errors alone."))];
}

function judged() {
  const beyond = what.beyond < what.margin ? "0, beyond the spread of equal trainings" : points(what.beyond);
  const said = [
    ["worse", `the change is above ${beyond}, beyond chance: its corrected low end is`],
    ["new", `${NOW} is worse there, and ${BEFORE} has no confirmed blindspot there`],
    ["mended", `${NOW} is better there, and no longer above its error rate in the class`],
    ["better", what.beyond < what.margin ? "the same below 0" : `the change is below ${points(-what.beyond)}, beyond chance`],
    ["pending", "these rows cannot tell: none of the others is shown"],
    ["same", `the change is below ${points(what.margin)} points, beyond chance: the high end is; it may be better`],
  ];
  $("judged").append(
    p("A change is the error rate of ", name(1), " less that of ", name(0), ", in points, on the same rows. The margin is " +
      `${+(100 * what.margin).toPrecision(3)} points; a guard may have its own.`),
    h("ul", {}, ...said.map(([word, t]) => h("li", {}, h("b", {}, word), `: ${t}`))),
    p("Only worse and new fail a gate; with --fail-on pending it fails, too, where all rows, a class or a guard is pending."),
    p("A version that is nowhere worse by more than that is called worse anywhere with a chance of at most " +
      `${percent(what.level)}. An equal training with another seed may be worse on few rows. ` +
      "Questions are asked level by level. A level without a question, or with all of its questions answered by worse, " +
      "passes its share on to the next."),
    levels(), p(...trainingsSaid()), ...moved(), p(...FEATURES[what.features]()),
    p("Slices were found and tested in the errors of both versions together, so that the search could not know which version " +
      "made an error. Compared are rows that joined a slice by their features or by its rule, blind to their answers."),
    p(`Made by Spotter ${what.spotter}. The page is whole in itself: it loads nothing and sends nothing.`));
}

async function start() {
  if (what.pictures && !window.DecompressionStream) throw new Error("this browser is too old; it needs one of 2023 or later");
  await Picture.load();
  head();
  changes();
  cards();
  lost();
  whole();
  judged();
  document.documentElement.dataset.ready = "1";
}

start().catch(e => {
  $("notes").append(h("p", { class: "notes" }, `The page could not be shown: ${e.message}`));
  throw e;
});
