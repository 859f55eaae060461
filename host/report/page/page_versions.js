// page_versions.js - two versions of a classifier on the same rows: what is worse, new, mended and pending in sentences, and
// pictures of rows that turned wrong. page_versions_judged.js has the rest, and starts the page.

const $ = id => document.getElementById(id);
const [BEFORE, NOW] = what.names, TILE = 64, STRIP = 12, LISTED = 40;
const name = u => h("bdi", {}, what.names[u]);
const retrain = what.retrain ?? { files: 0 }, trainings = retrain.files + 1;
const wrong = (k, u) => u ? k.wrong_now : k.wrong_before;
const rate = (k, u) => k.compared ? u ? k.wrong_now / k.compared : k.before : null;
const small = v => v === null ? "–" : v < 0.0001 && v > 0 ? v.toExponential(0) : String(+v.toPrecision(2));
const size = v => v < 0.001 ? "0" : v < 0.05 ? v.toPrecision(1) : v.toFixed(1);
const points = v => v === null ? "–" : `${v >= 1e-5 ? "+" : v <= -1e-5 ? "−" : ""}${size(Math.abs(100 * v))}`;
const className = k => k ?? "all classes";
const p = (...t) => h("p", {}, ...t);
const list = t => t.length > 1 ? `${t.slice(0, -1).join(", ")} and ${t.at(-1)}` : t.join("");

// ---- parts: all rows, classes, guards, slices, in this order ----

const kindOf = (k, kind) => k.class === null && kind === "class" ? "all rows" : kind;
const named = kind => (k, i) => ({ k, kind: kindOf(k, kind), id: `${kind}-${i + 1}` });
const parts = [...what.whole.map(named("class")), ...what.guards.map(named("guard")),
               ...what.slices.map((k, i) => ({ k, kind: "slice", number: i + 1, id: `slice-${i + 1}` }))];
const isWorse = x => x.k.verdict === "worse" || x.k.verdict === "new";
const isBetter = x => x.k.verdict === "mended" || x.k.verdict === "better";
const having = verdict => parts.filter(x => x.k.verdict === verdict);

// "all rows", "class places", "guard places & colour=grey", "places & colour=grey", "slice 3 of places".
function partName({ k, kind, number }) {
  if (kind === "all rows") return [kind];
  if (kind !== "slice") return [`${kind} `, h("bdi", {}, kind === "guard" ? k.guard : k.class)];
  if (!k.rule) return [`slice ${number} of `, k.class === null ? "all rows" : h("bdi", {}, k.class)];
  return [...(k.class === null ? [] : [h("bdi", {}, k.class), " & "]), h("bdi", {}, k.rule)];
}
const plainName = x => partName(x).map(t => t.textContent ?? t).join("");

// "all rows, 1 of 3 classes, 2 of 9 slices".
function counted(is) {
  const of = (kind, one, many) => {
    const all = parts.filter(x => x.kind === kind), n = all.filter(is).length;
    return n ? kind === "all rows" ? kind : `${count(n)} of ${plural(all.length, one, many)}` : null;
  };
  return list([of("all rows"), of("class", "class", "classes"), of("guard", "guard"), of("slice", "slice")].filter(t => t));
}

// ---- the head ----

function lead() {
  const pending = counted(x => x.k.verdict === "pending"), verdict = what.equal ? ["Both versions have the same rows wrong. "]
    : what.failed ? [name(1), " is worse than ", name(0), ": ", counted(isWorse), ". "]
      : ["Nothing is shown to be worse in ", name(1), " than in ", name(0), ". "];
  const better = counted(isBetter);
  $("lead").append(h("b", {}, ...verdict), better && `Better: ${better}. `, pending && !what.equal && `Pending: ${pending}; ` +
    `these rows cannot tell${what.failed ? "" : ", which is no proof that nothing is worse there"}. `,
    what.outside ? `${plural(what.outside, "row")} outside the slices turned wrong.` : "");
}

function head() {
  const all = what.whole.find(k => k.class === null), about = [["Before", BEFORE], ["Now", NOW]];
  const titled = what.title !== "Two versions", title = titled ? what.title : `${BEFORE} → ${NOW}`;
  $("title").textContent = title;
  document.title = `${title} – Spotter`;
  if (what.data) about.push(["Data", what.data]);
  if (what.date) about.push(["Date", what.date]);
  about.push(["Rows", count(what.rows)]);
  if (all) about.push(["Error rate", `${percent(rate(all, 0), 1)} → ${percent(rate(all, 1), 1)}`]);
  $("names").append(...about.map(([k, v]) => h("span", {}, `${k}: `, h("bdi", {}, v))));
  $("source").append(h("bdi", {}, what.source));
  lead();
  notes();
}

function notes() {
  const given = what.pictures, out = [];
  if (given && given.unreadable)
    out.push([`${plural(given.unreadable, "picture")} could not be read: `,
              h("bdi", {}, (given.unreadable_named || []).join("; ")),
              given.unreadable > (given.unreadable_named || []).length ? "; …" : ""]);
  if (given && given.given + given.unreadable < given.there)
    out.push([`To stay small this page holds ${count(given.given)} of ${count(given.there)} pictures.`]);
  if (out.length) $("notes").append(h("ul", { class: "notes" }, ...out.map(t => h("li", {}, ...t))));
}

// ---- sentences ----

const roughly = (k, n) => `about ${plural(+n.toPrecision(2), k.groups ? "group" : "row")}`;
const spread = what.beyond < what.margin ? " and what equal trainings differ by" : "";

const whose = k => k.class === null ? "its classes" : "its class";

// The numbers that a verdict looked at.
function because({ k }) {
  const { value } = k.change, { low, high } = k.corrected, moved = `The change is ${points(value)} points`;
  switch (k.verdict) {
    case "worse": case "new":
      return `${moved}, and at least ${points(low)} beyond chance${spread}; worse is above ${points(k.beyond)}.` +
        (k.verdict === "new" ? ` ${BEFORE} has no confirmed blindspot there.` : "");
    case "mended":
      return `${moved}, p ${small(k.p_better)}, corrected. ${NOW} is no longer above the rate of ${whose(k)}, ` +
        `${percent(k.class_rate_now)}.`;
    case "better": return `${moved}, p ${small(k.p_better)}, corrected; better is below ${points(-k.beyond)}.`;
    case "same": return `${moved}, and at most ${points(high)} beyond chance; same is below ${points(k.margin)}.`;
    default: return `${moved} and may lie from ${points(low)} to ${points(high)}. ` + (k.needed
      ? `It needs ${roughly(k, k.needed)} of this kind to decide, if the change stays as it is.`
      : k.as_others ? "Its log odds changed no more than those of other slices, as they do from one training to an equal " +
        "one: more rows do not decide, further trainings may."
      : "No number of rows decides, if the change stays as it is: it is too near the margin.");
  }
}

// Against version 1 itself, also where rates before are means over its trainings.
const alone = trainings > 1 ? `against ${BEFORE} alone ` : "";
const turned = k => `${alone}${count(k.lost)} turned wrong, ${count(k.gained)} turned right`;

function sentence(x) {
  const { k, id } = x, to = hasCard(x) ? h("a", { href: `#${id}` }, ...partName(x)) : h("b", {}, ...partName(x));
  return h("li", {}, h("span", { class: `verdict ${k.verdict}` }, k.verdict), " ", to,
    `: ${percent(rate(k, 0))} → ${percent(rate(k, 1))} wrong on ${plural(k.compared, "row")}`,
    k.groups ? ` in ${plural(k.groups, "group")}` : "", `; ${turned(k)}. `,
    h("small", {}, because(x)));
}

function sentences(rows) {
  const out = h("ul", { class: "sentences" }, ...rows.slice(0, LISTED).map(sentence)), rest = rows.slice(LISTED);
  if (!rest.length) return [out];
  const more = h("button", { class: "small", type: "button", onclick: () => {
    out.append(...rest.map(sentence));
    more.remove();
  } }, `${count(rest.length)} more`);
  return [out, more];
}

// A folded list, made when somebody opens it.
function folded(title, rows, make) {
  const open = () => { if (box.open && box.children.length === 1) box.append(...make(rows)); };
  const box = h("details", { class: "fold", ontoggle: open }, h("summary", {}, title));
  return rows.length ? [box] : [];
}

function changes() {
  const shown = [["Worse", having("worse")], ["New blindspots", having("new")],
                 ["Mended and better", [...having("mended"), ...having("better")]]];
  const pending = having("pending"), same = having("same");
  $("changes").append(...shown.flatMap(([title, rows]) => rows.length ? [h("h3", {}, title), ...sentences(rows)] : []),
    shown.some(([, rows]) => rows.length) ? "" : h("p", { class: "empty" }, "Nothing is shown to be worse, nor better."),
    ...folded(`Pending: ${count(pending.length)}, where these rows cannot tell`, pending, sentences),
    ...folded(`Same: ${count(same.length)}, not worse by the margin`, same, sentences));
}

// ---- a card: rates side by side, and pictures ----

// All rows and classes have a card, and rows on the page, where they are worse; guards and slices always.
const hasRows = x => x.kind === "guard" || x.kind === "slice";
const hasCard = x => x.k.shown && (isWorse(x) || (hasRows(x) && isBetter(x)));

// A version's rate as a bar, with the mark of its class for a slice.
function side(k, u) {
  const of = rate(k, u), base = u ? k.class_rate_now : k.class_rate_before;
  const isMean = !u && trainings > 1;
  const rows = isMean ? `the mean of ${count(trainings)} trainings` : `${count(wrong(k, u))} of ${count(k.compared)}`;
  const confirmed = (u ? k.confirmed_now : k.confirmed_before) && ", a confirmed blindspot";
  return h("div", {}, h("span", { class: "version-name" }, name(u), confirmed), h("span", { class: "rate" }, percent(of)),
    h("small", {}, ` wrong, ${rows}`),
    h("span", { class: "bar-rate", "aria-hidden": "true" }, h("span", { class: "fill", style: `width:${100 * (of || 0)}%` }),
      base === undefined ? null : h("span", { class: "base", style: `left:${100 * (base || 0)}%` })),
    base === undefined ? null : h("small", {}, `${whose(k)} ${percent(base)}`));
}

function change(k) {
  return h("div", { class: "by" }, h("b", {}, `${points(k.change.value)} points`),
    h("small", {}, `corrected ends ${points(k.corrected.low)}, ${points(k.corrected.high)}`),
    h("small", {}, turned(k)));
}

// Groups of rows by how they turned, with the number of all of them: a part may have more than the page.
const GROUPS = [["Turned wrong", r => !r.wrong[0] && r.wrong[1], k => k.lost],
                ["Turned right", r => r.wrong[0] && !r.wrong[1], k => k.gained],
                ["Wrong in both", r => r.wrong[0] && r.wrong[1], k => k.wrong_now - k.lost]];

const taken = (r, u) => r.taken[u] < 0 ? null : what.classes[r.taken[u]];

function rowLabel(r) {
  const says = u => taken(r, u) === null ? (r.wrong[u] ? "wrong" : "right") : taken(r, u);
  return `${r.id}: ${className(r.class)}; ${BEFORE}: ${says(0)}; ${NOW}: ${says(1)}`;
}

// A picture, and the answer of the version that has it wrong.
function tile(r) {
  const text = rowLabel(r), answer = taken(r, r.wrong[1] ? 1 : 0);
  return h("li", {}, h("span", { class: r.wrong[1] ? "tile wrong" : "tile", style: `width:${TILE}px`, title: text },
                       Picture.show(r.row, r.id, TILE, text)),
           answer === null ? null : h("small", { class: "answer", "aria-hidden": "true" }, h("bdi", {}, answer)));
}

// Rows in groups by what became of them, the first `most` of each: pictures, or names. k: how many there are.
function groups(k, rows, most) {
  const out = GROUPS.map(([title, is, of]) => [title, rows.filter(is).slice(0, most), of(k)]).filter(([, r]) => r.length);
  const pictures = r => h("ul", { class: "gallery" }, ...r.map(tile));
  const names = r => h("p", { class: "ids-list" }, ...r.flatMap((x, i) => [i ? ", " : null, h("bdi", {}, x.id)]));
  const head = (title, r, n) => h("h4", {}, `${title}: ${n > r.length ? `${count(r.length)} of ` : ""}${count(n)}`);
  return h("div", { class: "groups" }, ...out.map(([title, r, n]) => h("div", {}, head(title, r, n),
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
    h("summary", {}, `Rows as a table${left > 0 ? ` (the first ${count(rows.length)} of ${count(rows.length + left)})` : ""}`));
  return box;
}

// The page has the compared rows of a slice, and the rows of other parts that turned.
function card(x) {
  const { k, kind, id } = x, all = kind === "slice" ? k.compared : k.lost + k.gained;
  const size = kind === "slice" ? `${plural(k.size, "row")}, ${count(k.compared)} compared` : plural(k.compared, "row");
  return h("li", { id }, h("article", { class: "card version", "aria-label": `${k.verdict}: ${plainName(x)}` },
    h("div", { class: "line" }, h("span", { class: `verdict ${k.verdict}` }, k.verdict),
      h("b", { class: "where" }, ...partName(x)), h("small", {}, size)),
    h("div", { class: "sides" }, side(k, 0), change(k), side(k, 1)),
    isWorse(x) || isBetter(x) ? null : p(h("small", {}, because(x))),
    ...k.shown.length ? [groups(k, k.shown, STRIP), table(k.shown, all - k.shown.length)]
      : [p(h("small", {}, "No row turned wrong or right."))]));
}

function cards() {
  const order = ["worse", "new", "mended", "better"].flatMap(having).filter(hasCard);
  const others = ["pending", "same"].flatMap(having).filter(hasRows);
  $("cards-key").textContent = "Bar: error rate; the tick: that of the slice's whole class." +
    (Picture.any ? ` Below a picture: the answer of the version that has it wrong. ✕: wrong in ${NOW}.` : "");
  if (order.length) $("cards").append(...order.map(card));
  else $("cards").replaceWith(h("p", { class: "empty" }, what.slices.length ? "No slice is shown to be worse or better."
    : "No blindspot of either version is confirmed, and no slice changed."));
  $("cards-rest").append(...folded(`${what.guards.length ? "Guards and slices" : "Slices"} that are pending or the same: ` +
    count(others.length), others,
    rows => [h("ol", { class: "cards" }, ...rows.map(card))]));
}

function lost() {
  if (!what.outside) return;
  $("lost-part").hidden = false;
  $("lost").append(h("p", { class: "key-line" }, `${plural(what.outside, "row")} of no slice, right in `, name(0), " and ",
                     "wrong in ", name(1), ". Single rows: no test is made of them. All rows and classes are tested below."),
                   groups({ lost: what.outside }, what.lost, 24), table(what.lost, what.outside - what.lost.length));
}
