// page_card.js - a slice as a card of the list: its name, claim, numbers, words and pictures.

const Card = (() => {
  const STRIP = 16, NEAR = 4, TILE = 48;
  const whole = v => Math.round(100 * v);
  const range = v => v && v.low !== null ? `${whole(v.low)} to ${whole(v.high)} %` : null;
  const fileName = id => id.replace(/^.*[/\\](?=.)/, "");

  // The error rate as a bar with its interval, and a mark where that of the whole class stands.
  function bar(s) {
    const base = Claim.classRate(s), v = s.interval, rate = Claim.rate(s) || 0;
    const title = `${percent(rate)} of the slice and ${percent(base)} of all ` +
                  `${isRun ? "images of the EC" : "rows of its class"} are wrong`;
    return h("span", { class: "bar-rate", "aria-hidden": "true", title },
             h("span", { class: "fill", style: `width:${100 * rate}%` }),
             v && v.low !== null ? h("span", { class: "interval", style: `left:${100 * v.low}%;width:${100 * (v.high - v.low)}%` })
                                : null,
             h("span", { class: "base", style: `left:${100 * base}%` }));
  }

  function numbers(s) {
    const p = Claim.place(s), ci = range(s.interval);
    return h("span", { class: "numbers" },
             h("span", {}, h("b", {}, count(s.size)), s.size === 1 ? " row" : " rows"),
             h("span", {}, h("b", {}, percent(Claim.rate(s))), s.proof ? ` of ${count(s.proof.judged)} judged wrong` : " wrong",
               ci ? h("small", {}, ` (${ci})`) : null),
             h("span", {}, p.class < 0 || isRun ? "all " : "class ", h("b", {}, percent(Claim.classRate(s))),
               ` of ${plural(p.n, isRun ? "image" : "row")}`));
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

  // The best phrases and the conjunction of attributes, each with a mark where chance does as well.
  function said(s) {
    const out = [], chance = p => p > 0.05 || p === null ? h("span", { class: "dim" }, " may be chance") : null;
    if (s.words) {
      const near = s.words.filter((w, i) => !i || w.p <= 0.05).slice(0, 3);
      out.push(h("span", { class: "said" }, ...near.flatMap((w, i) => [i ? ", " : null, h("bdi", {}, `“${w.phrase}”`)]),
                 chance(near[0].p)));
    }
    if (s.conjunction)
      out.push(h("span", { class: "said" }, ...s.conjunction.items.flatMap((t, i) =>
        [i ? h("i", {}, " and ") : null, h("bdi", {}, t)]), chance(s.conjunction.held_out.p)));
    return out;
  }

  // Where the wrong rows go, and who found the slice.
  function who(s) {
    const part = [], to = Claim.taken(s), f = s.own ? null : what.findings[s.finding];
    if (to !== null) part.push(["predicted as ", h("bdi", { class: "taken" }, to), `, ${percent(s.taken_share)}`]);
    if (!s.own) part.push([`found by ${Claim.methods(s).join(", ")}`]);
    if (f && !f.merged && Data.manySeeds) part.push([`seed ${f.seed}`]);
    if (s.note) part.push([s.note]);
    if (!s.own && !isRun && s.size >= Claim.place(s).n) part.push(["the whole class"]);
    return part.length ? h("span", { class: "who" }, ...part.flatMap((p, i) => [i ? " · " : null, ...p])) : null;
  }

  const chip = s => s.own || isRun ? null : h("span", { class: `claim ${s.kind}` }, Claim.word(s));

  function label(s) {
    const to = Claim.taken(s), ci = range(s.interval);
    return [`${Claim.name(s)}${s.own || isRun ? "" : `, ${Claim.word(s)}`}: ${plural(s.size, "row")}`,
            `${percent(Claim.rate(s))} wrong${ci ? ` (${ci})` : ""}`,
            `${percent(Claim.classRate(s))} of ${isRun ? "all images" : Claim.place(s).class < 0 ? "all rows" : "its class"}`,
            to === null ? null : `predicted as ${to}, ${percent(s.taken_share)}`,
            s.own ? null : `found by ${Claim.methods(s).join(", ")}`].filter(Boolean).join(", ");
  }

  function draw(s, selected, mixed, onclick) {
    const f = s.own ? null : what.findings[s.finding], several = mixed && f && !f.merged;
    const number = s.own ? "✎" : several ? `${f.method} ${s.number}` : String(s.number);
    s.button = h("button", { type: "button", class: `card ${s.own ? "own" : s.kind}`, "aria-pressed": String(selected),
                             "aria-label": label(s), onclick },
      h("span", { class: "line" }, h("span", { class: "rank" }, number),
        h("bdi", { class: "where" }, s.own || isRun ? Claim.name(s) : Claim.className(s)), chip(s), numbers(s)),
      ...said(s), who(s), bar(s), strip(s, STRIP));
    return h("li", {}, s.button);
  }

  // The worst pictures of a cause's slices, in turn.
  function causeStrip(list, most) {
    const tiles = list.map(s => distinct(s.place, s.worst, most).map(([i, times]) => picture(s.place, i, TILE, times)));
    const turn = d3.range(most).flatMap(k => tiles.map(t => t[k]).filter(Boolean)).slice(0, most);
    return h("span", { class: "strip" }, h("span", { class: "worst" }, ...turn));
  }

  // The rows of each class of a cause.
  function classRows(list) {
    const rows = new Map();

    for (const s of list) rows.set(Claim.className(s), (rows.get(Claim.className(s)) || 0) + s.size);
    return [...rows].flatMap(([name, n], i) => [i ? ", " : null, `${count(n)} of `, h("bdi", {}, name)]);
  }

  // Slice numbers in short: 1 to 3, 7.
  function span(list) {
    const n = list.map(s => s.number).sort((a, b) => a - b), part = [];
    for (let i = 0, j; i < n.length; i = j + 1) {
      for (j = i; n[j + 1] === n[j] + 1; j++) { }
      part.push(j > i + 1 ? `${n[i]} to ${n[j]}` : n.slice(i, j + 1).join(", "));
    }
    return part.join(", ");
  }

  // Slices with one cause: a head, and below it, folded, the slices. list: in their order; cards: theirs.
  function cause(list, cards, open, ontoggle) {
    const t = Claim.together(list), at = v => `${Math.round(100 * v)}%`;
    const numbers = h("span", { class: "numbers" },
      h("span", {}, h("b", {}, count(t.size)), " rows"),
      h("span", {}, h("b", {}, percent(t.rate)), ` of ${count(t.judged)} judged wrong`),
      h("span", {}, t.classes > 1 ? "their classes " : "its class ", h("b", {}, percent(t.classRate))));
    const head = h("div", { class: "card cause-head confirmed" },
      h("span", { class: "line" }, h("span", { class: "rank" }, span(list)),
        h("span", { class: "where" }, t.classes > 1 ? `One cause in ${count(t.classes)} classes` : Claim.className(list[0])),
        h("span", { class: "claim confirmed" }, "confirmed blindspots"), numbers),
      h("span", { class: "who" }, "predicted as ", h("bdi", { class: "taken" }, t.taken), `, ${percent(t.share)} · rows: `, ...classRows(list)),
      h("span", { class: "bar-rate", "aria-hidden": "true" }, h("span", { class: "fill", style: `width:${at(t.rate)}` }),
        h("span", { class: "base", style: `left:${at(t.classRate)}` })),
      Picture.there ? causeStrip(list, STRIP) : null);
    return h("li", { class: "cause" }, head, h("details", { open, ontoggle },
      h("summary", {}, `The ${count(list.length)} slices, each by itself`), h("ol", { class: "cards" }, ...cards)));
  }

  return { draw, cause, picture, strip, numbers, distinct, range };
})();
