// page_card.js - an entry of the list as a card: its title in words, claim, numbers and pictures; below it, folded, the other
// slices of its cause. A slice that is no head of an entry, or is somebody's own, has such a card, too.

const Card = (() => {
  const STRIP = 16, NEAR = 4, TILE = 48;
  const whole = v => Math.round(100 * v);
  const range = v => v && v.low !== null ? `${whole(v.low)} to ${whole(v.high)} %` : null;
  const fileName = id => id.replace(/^.*[/\\](?=.)/, "");

  // The error rate as a bar with its interval, and a mark where that of the whole class stands.
  function bar(s, x) {
    const base = x.class_rate, v = x.slices ? null : s.interval, rate = x.rate || 0;
    const title = `${percent(rate)} of the slice and ${percent(base)} of ${whole_of(s, x, "the rows of ")} are wrong`;
    return h("span", { class: "bar-rate", "aria-hidden": "true", title },
             h("span", { class: "fill", style: `width:${100 * rate}%` }),
             v && v.low !== null ? h("span", { class: "interval", style: `left:${100 * v.low}%;width:${100 * (v.high - v.low)}%` })
                                : null,
             h("span", { class: "base", style: `left:${100 * base}%` }));
  }

  // The rows with whose rate a slice's is compared: its class's; without a proof a slice of all rows has these beside it.
  function whole_of(s, x, front = "") {
    const p = Claim.place(s), all = `all ${plural(p.n, isRun ? "image" : "row")}`;
    if (isRun) return `${all} of the EC`;
    if (p.class < 0 && !s.proof) return all;
    return front + (x.classes === 1 ? "its class" : "their classes");
  }

  const points = v => v === null ? "–" : `${v < 0 ? "−" : "+"}${Math.abs(100 * v).toFixed(0)}`;
  const some = (part, all) => h("b", {}, `${count(part)} of ${count(all)}`);

  // Rows and wrong ones; of slices with a proof also those that the search had not seen, which are the evidence.
  function numbers(s, x) {
    const ci = x.slices ? null : range(s.interval);
    const small = ci ? h("small", {}, ` (${ci})`) : null;
    return h("span", { class: "numbers" },
             h("span", {}, some(x.wrong, x.size), x.size === 1 ? " row wrong" : " rows wrong", s.proof ? null : small),
             s.proof ? h("span", {}, "on unseen rows ", some(x.judged_wrong, x.judged),
                         x.groups ? ` in ${plural(x.groups, "group")}` : null, small) : null,
             h("span", {}, `${whole_of(s, x)}: `, h("b", {}, percent(x.class_rate)), " wrong"),
             s.proof ? h("span", {}, "excess ", h("b", {}, points(x.excess)), ", to expect ", h("b", {}, points(x.to_expect)),
                         " points") : null,
             x.share_of_errors ? h("span", {}, h("b", {}, percent(x.share_of_errors)), " of all errors") : null);
  }

  const rowName = (place, i) => {
    const r = Data.row(place, i), to = r.wrong && r.predicted !== null ? `, predicted as ${r.predicted}` : "";
    return `${fileName(r.id)}, confidence ${r.confidence.toFixed(2)}, ${r.wrong ? "wrong" : "right"}${to}`;
  };

  function picture(place, i, size, times = 1) {
    const p = what.places[place], label = rowName(place, i) + (times > 1 ? `, ${times} rows with this picture` : "");
    const e = Picture.show(p.row[i], Data.row(place, i).id, size, label);
    return h("span", { class: p.isBad[i] ? "tile wrong" : "tile", style: `width:${size}px`, title: label }, e,
             times > 1 ? h("span", { class: "times", "aria-hidden": "true" }, `×${times}`) : null);
  }

  // Rows whose pictures differ, each with the number of rows that have its picture.
  function distinct(place, list, most = Infinity) {
    const row = what.places[place].row, times = new Map(), out = [];
    for (const i of list) {
      const key = Picture.twin(row[i]);
      if (!times.has(key)) out.push(i);
      times.set(key, (times.get(key) || 0) + 1);
    }
    return out.slice(0, most).map(i => [i, times.get(Picture.twin(row[i]))]);
  }

  // Members by confidence as a strip of colour: what a slice looks like when there are no pictures.
  function spectrum(s) {
    const p = what.places[s.place], bars = 48, cells = [];
    for (let b = 0; b < bars; b++) {
      const i = s.worst[Math.floor((b + 0.5) * s.worst.length / bars)];
      cells.push(h("i", { style: `--t:${p.at[i] / 255}` }));
    }
    return h("span", { class: "spectrum", role: "img", "aria-label": `mean confidence ${s.mean_confidence.toFixed(2)}`,
                       title: "the slice’s rows by confidence, the least first" }, ...cells);
  }

  function strip(s, most) {
    if (!s.size) return null;
    if (!Picture.there)
      return h("span", { class: "strip words" }, spectrum(s),
               h("span", { class: "ids" }, ...s.worst.slice(0, 4).flatMap((i, k) =>
                 [k ? ", " : "worst: ", h("bdi", {}, Data.row(s.place, i).id)]), s.worst.length > 4 ? ", …" : ""));
    const tiles = (list, n) => distinct(s.place, list, n).map(([i, times]) => picture(s.place, i, TILE, times));
    const worst = tiles(s.worst, most), out = h("span", { class: "strip" }, h("span", { class: "worst" }, ...worst));
    if (s.near.length)
      out.append(h("span", { class: "near", title: "the nearest images of the class that the model gets right" },
                   ...tiles(s.near, worst.length > 7 ? NEAR : NEAR / 2)));
    return out;
  }

  const attributes = (items, wrong, rows, ...more) => h("span", { class: "said" },
    ...items.flatMap((t, i) => [i ? h("i", {}, " and ") : null, h("bdi", {}, t)]), h("span", { class: "dim" },
    `: ${count(wrong)} of ${plural(rows, "row")} with ${items.length > 1 ? "these attributes" : "this attribute"} wrong`), ...more);

  // The best phrases and the attributes, with the rate of all rows that have these; and where chance describes it as well: what
  // is confirmed is not called so.
  function said(s) {
    const out = [], fits = p => p !== null && p <= 0.05, told = p => fits(p) || s.kind !== "confirmed";
    const chance = p => fits(p) ? null : h("span", { class: "dim" }, "; chance describes it as well");
    if (s.words && told(s.words[0].p)) {
      const near = s.words.filter((w, i) => !i || fits(w.p)).slice(0, 3);
      out.push(h("span", { class: "said" }, ...near.flatMap((w, i) => [i ? ", " : null, h("bdi", {}, `“${w.phrase}”`)]),
                 chance(near[0].p)));
    }
    const e = Claim.isHead(s) && Claim.entryOf(s), k = s.conjunction;
    if (e && e.rule) {
      if (e.rule_rows !== e.size || e.rule_wrong !== e.wrong) out.push(attributes(e.rule, e.rule_wrong, e.rule_rows));
    } else if (s.rule) out.push(attributes(s.rule.items, s.wrong, s.size));
    else if (k && told(k.held_out.p))
      out.push(attributes(k.items, k.all.wrong, k.all.covered, overlap(k.held_out), chance(k.held_out.p)));
    return out;
  }

  // How well attributes and slice agree, on the rows on which the attributes were not chosen.
  const overlap = m => m.precision === null || m.recall === null ? null : h("span", { class: "dim" },
    `; ${percent(m.recall)} of the slice has them, and ${percent(m.precision)} of the rows with them are in it`);

  // Where the wrong rows go, and who found the slice.
  function who(s, x) {
    const part = [], f = s.own ? null : what.findings[s.finding];
    if (x.predicted !== null)
      part.push(["taken for ", h("bdi", { class: "taken" }, x.predicted), `: ${percent(x.predicted_share)} of the wrong rows`]);
    if (x.classes > 1 && Claim.members(s).every(m => Claim.place(m).class >= 0))
      part.push(["rows: ", ...classRows(Claim.members(s))]);
    if (!s.own) part.push([`found by ${Claim.methods(s).join(", ")}`]);
    if (f && !f.merged && Data.manySeeds) part.push([`seed ${f.seed}`]);
    if (s.note) part.push([s.note]);
    if (!s.own && !isRun && s.size >= Claim.place(s).n) part.push(["the whole class"]);
    return part.length ? h("span", { class: "who" }, ...part.flatMap((p, i) => [i ? " · " : null, ...p])) : null;
  }

  const chip = s => s.own || isRun ? null : h("span", { class: `claim ${s.kind}` }, Claim.word(s));

  // How many of the wrong rows may be wrong labels, and the rate of the others.
  function labels(s, x) {
    const n = Claim.suspected(s);
    return n ? h("span", { class: "said" }, h("b", {}, plural(n, "label")), " may be wrong; without " +
      `${n === 1 ? "this row" : "these rows"} the rate is `, h("b", {}, percent((x.wrong - n) / (x.size - n)))) : null;
  }

  const title = s => Claim.isHead(s) ? Claim.entryOf(s).title : s.own || isRun ? Claim.name(s) : Claim.className(s);

  function label(s, x) {
    const ci = x.slices ? null : range(s.interval);
    return [`${Claim.name(s)}${s.own || isRun ? "" : `, ${Claim.word(s)}`}: ${plural(x.size, "row")}`,
            `${percent(x.rate)} wrong${ci ? ` (${ci})` : ""}`, `${percent(x.class_rate)} of ${whole_of(s, x)}`,
            x.predicted === null ? null : `predicted as ${x.predicted}, ${percent(x.predicted_share)}`,
            s.own ? null : `found by ${Claim.methods(s).join(", ")}`].filter(Boolean).join(", ");
  }

  // others: the cards of the slices that are the same cause.
  function draw(s, selected, mixed, onclick, others = [], open = false, ontoggle = null) {
    const f = s.own ? null : what.findings[s.finding], several = mixed && f && !f.merged;
    const x = Claim.figures(s), e = Claim.entryOf(s);
    const number = s.own ? "✎" : several ? `${f.method} ${s.number}` : String(s.number);
    const pictures = x.slices && x.size > s.size && Picture.there ? causeStrip(Claim.members(s), STRIP) : strip(s, STRIP);
    s.button = h("button", { type: "button", class: `card ${s.own ? "own" : s.kind}`, "aria-pressed": String(selected),
                             "aria-label": label(s, x), onclick },
      h("span", { class: "line" }, h("span", { class: "rank" }, number), h("bdi", { class: "where" }, title(s)), chip(s),
        numbers(s, x)),
      ...said(s), labels(s, x), who(s, x), bar(s, x), pictures);
    const heading = h("h3", { class: "card-head" }, s.button);
    const cause = e && !Claim.isHead(s) ? h("p", { class: "key-line" }, `of cause ${s.entry}`) : null;
    if (!others.length) return h("li", {}, heading, cause);
    return h("li", { class: "cause" }, heading, cause, h("details", { open, ontoggle },
      h("summary", {}, `${plural(others.length, "other slice")} of this cause`), h("ol", { class: "cards" }, ...others)));
  }

  // The worst pictures of a cause's slices, in turn, each once.
  function causeStrip(list, most) {
    const each = list.filter(s => s.worst).map(s => distinct(s.place, s.worst, most).map(([i, times]) => [s.place, i, times]));
    const turn = d3.range(most).flatMap(k => each.map(t => t[k]).filter(Boolean)), seen = new Set();
    const once = turn.filter(([place, i]) => {
      const key = Picture.twin(what.places[place].row[i]);
      return !seen.has(key) && seen.add(key);
    });
    return h("span", { class: "strip" }, h("span", { class: "worst" },
      ...once.slice(0, most).map(([place, i, times]) => picture(place, i, TILE, times))));
  }

  // The rows of each class of a cause.
  function classRows(list) {
    const rows = new Map();

    for (const s of list) rows.set(Claim.className(s), (rows.get(Claim.className(s)) || 0) + s.size);
    return [...rows].slice(0, 5).flatMap(([name, n], i) => [i ? ", " : null, `${count(n)} of `, h("bdi", {}, name)])
      .concat(rows.size > 5 ? `, and of ${count(rows.size - 5)} more` : []);
  }

  return { draw, picture, strip, distinct, range, title, points, numbers: s => numbers(s, Claim.figures(s)) };
})();
