// page_detail.js - the slice that is selected: its numbers, pictures and rows; and saving slices.

const Detail = (() => {
  const detail = document.getElementById("detail"), GALLERY = 96, ROWS = 300;
  const button = (...a) => List.button(...a);

  function fact(name, value) { return h("div", {}, h("dt", {}, name), h("dd", {}, ...[value].flat())); }

  // In a narrow window the details stand below their card, else beside the list.
  const side = document.querySelector(".side");

  function place(s, inline) {
    const heading = inline && s && s.button ? s.button.parentElement : null;
    if (heading && detail.previousElementSibling !== heading) heading.after(detail);
    if (!heading && detail.parentElement !== side) side.append(detail);
    detail.classList.toggle("inline", !!heading);
  }

  // Takes the details out of the list, which is drawn again.
  function park() { if (detail.parentElement !== side) side.append(detail); }

  const points = v => v === null ? "–" : `${Card.points(v)} points`;
  const within = v => v.excess_low === null ? null
    : h("small", {}, ` ${points(v.excess_low).replace(" points", "")} to ${points(v.excess_high).replace(" points", "")}`);

  // Whether its rows are of several classes, as far as the search is told.
  const across = s => !isRun && what.places[s.place].class < 0;

  // A slice's own numbers; three of them stand elsewhere with more words.
  const common = s => what.slice_columns.filter(q => known(s[q.name]) && !["size", "wrong", "error_rate"].includes(q.name))
    .map(q => fact(q.name !== "share_of_errors" || isRun ? q.about : across(s) ? "share of all errors" : "share of its class’s errors",
                   q.unit === "share" ? percent(s[q.name], 1) : Quantity.text(q, s[q.name])));

  function facts(s) {
    const p = what.places[s.place], v = s.proof, rest = p.n > s.size ? (p.wrong - s.wrong) / (p.n - s.size) : null;
    const ci = Card.range(s.interval), own = Claim.classRate(s);
    if (!v)
      return [fact("rows", count(s.size)), fact("wrong", count(s.wrong)),
              fact("error rate", [percent(s.error_rate, 1), ci ? h("small", {}, ` ${ci}`) : null]),
              fact(across(s) ? "other rows" : "rest of the class", percent(rest, 1)), ...common(s),
              s.own || s.score === null ? null : fact("method’s score", String(+s.score.toPrecision(4)))];
    return [fact("rows", count(s.size)), fact("judged rows", count(v.judged)), fact("wrong of these", count(v.wrong)),
            fact("error rate", [percent(Claim.rate(s), 1), ci ? h("small", {}, ` ${ci}`) : null]),
            fact(across(s) ? "their classes" : "its class", percent(own, 1)), fact("excess", [points(v.excess), within(v)]),
            fact("to expect on new rows", points(v.to_expect)),
            v.expected_rate === null ? null
              : fact("rate that predicted class and confidence let expect", percent(v.expected_rate, 1)),
            fact("p, corrected", small(v.corrected_p)), ...common(s)];
  }

  // Every picture of the slice that is here, worst first, and the rows as a table.
  function draw(s, partner) {
    detail.replaceChildren();
    if (!s) {
      detail.append(h("p", { class: "hint" }, "Select a slice in the list or a point on the map to see its rows; draw " +
        "around points with the lasso to make a slice of your own."));
      return;
    }
    const name = s.own
      ? h("input", { class: "name", value: s.name, "aria-label": "name of the slice", size: 24,
                     onchange: e => { s.name = e.target.value || s.name; List.draw(); } })
      : h("h2", {}, h("bdi", {}, List.nameOf(s)), isRun ? h("bdi", { class: "of" }, ` ${Data.placeName(s.place)}`) : null,
          h("span", { class: "of" }, isRun ? ` ${List.methodOf(s)}` : ` ${Claim.word(s)}`));
    const file = s.own ? s.name : `${Data.placeName(s.place)}-${List.methodOf(s)}-${s.number}`;
    detail.append(h("div", { class: "line" }, name, h("span", { class: "row" },
      button("Zoom to it", async () => {
        await PointMap.unfold();
        PointMap.zoomTo(s);
        document.getElementById("stage").scrollIntoView({ block: "nearest" });
      }, { title: "show the slice as large as it goes on the map" }),
      s.own ? null : h("a", { class: "small", href: `#${s.address}`, title: "the address of this slice in this page" }, "Link"),
      button("Save CSV", () => Export.csv([s], file)), button("Save JSON", () => Export.json([s], file)),
      s.own ? button("Remove", () => List.remove(s)) : null,
      button("Close", () => List.clear(), { "aria-label": "Close the slice (Escape)" }))));
    detail.append(h("dl", { class: "facts few" }, ...facts(s).filter(Boolean)));
    if (s.note) detail.append(h("p", { class: "hint" }, s.note));
    cause(s);
    if (partner)
      detail.append(h("p", { class: "hint" },
        `Circles: ${List.nameOf(s)}. Squares: ${List.nameOf(partner)} of ${List.methodOf(partner)}.`));
    if (s.proof) proof(s);
    Models.detail(detail, s);
    labels(s);
    if (s.words) words(s.words);
    if (s.conjunction) conjunction(s.conjunction);
    if (Picture.there) gallery(s);
    table(s);
  }

  // The other slices of its cause.
  function cause(s) {
    const e = Claim.entryOf(s);
    if (!e || e.slices.length < 2) return;
    const link = t => h("a", { href: `#${t.address}` }, `#${t.number}`);
    detail.append(h("p", { class: "hint" }, `One of ${count(e.slices.length)} slices of cause ${e.number}, `,
      h("bdi", {}, e.title),
      `: ${count(e.wrong)} of ${count(e.size)} rows wrong. The others: `,
      ...Claim.members(s).filter(t => t !== s).slice(0, 40).flatMap((t, i) => [i ? ", " : null, link(t)]), "."));
  }

  // Rows whose label two signs doubt, with what it seems to be.
  function labels(s) {
    const all = Claim.suspects(s), n = all.length, p = what.places[s.place];
    if (!n) return;
    const one = i => {
      const r = Data.row(s.place, i), words = h("small", {}, h("bdi", {}, r.target), " → ", h("bdi", {}, r.seems));
      return h("li", {}, Picture.has(p.row[i]) ? Card.picture(s.place, i, 76) : h("bdi", {}, r.id), words);
    };
    detail.append(h("h3", {}, `Labels that may be wrong: ${count(n)} of ${plural(s.size, "row")}`),
      h("p", { class: "key-line" }, "The classifier and the nearest rows name the same other class, which stands behind the " +
        "arrow. Look at them: a wrong label is no error of the model. Without these rows " +
        `${percent((s.wrong - n) / (s.size - n))} are wrong.`),
      h("ul", { class: "gallery suspects" }, ...all.slice(0, GALLERY).map(one)));
  }

  // Which search found the slice on which part, and what the rows of the other part say.
  function proof(s) {
    const v = s.proof, seeds = new Set(v.pieces.map(e => e.seed)).size > 1;
    const chance = Data.model(s.place).groups ? "the share of draws, in which whole groups exchange their errors, that have as many " +
      "wrong ones" : "chance of as many wrong ones in a random choice of rows of the same classes";
    const row = e => [h("bdi", {}, `${e.method}${seeds ? `, seed ${e.seed}` : ""}`), String(e.part + 1),
                      `${count(e.found)}, ${count(e.found_wrong)}`, count(e.judged), count(e.wrong), decimal(e.expected_wrong, 1),
                      small(e.p), small(e.corrected_p)];
    detail.append(h("h3", {}, "The proof"),
      grid(["found by", "on part", "rows, wrong", "judged rows", "wrong", "expected", "p", "corrected p"], v.pieces.map(row)),
      h("p", { class: "key-line" }, "Found on one part of the rows, judged on the other, whose rows join by their features " +
        "alone. Expected: wrong rows at the rate of their class. p: " + chance + "; corrected for all tests of this page’s model together (Westfall and Young). Excess: error rate of " +
        "the judged rows less that of their class. To expect on new rows: the excess drawn towards what all slices " +
        "together show, so a slice of few rows may stand above its own. " +
        (v.expected_rate === null ? "" : "Rate that predicted class and confidence let expect: that of " + "other rows with the same answers; what is above it is news.")));
  }

  const small = v => v === null ? "–" : v < 0.0001 && v > 0 ? "< 0.0001" : String(+v.toPrecision(2));

  const decimal = (v, digits) => v === null ? "–" : v.toFixed(digits);

  function grid(head, rows) {
    return h("div", { class: "scroll" }, h("table", {},
      h("thead", {}, h("tr", {}, ...head.map((t, i) => h("th", { scope: "col", class: i ? "number" : "" }, t)))),
      h("tbody", {}, ...rows.map(r => h("tr", {}, ...r.map((t, i) => h("td", { class: i ? "number" : "" }, t)))))));
  }

  function words(list) {
    const terms = list.every(w => Rule.isTerm(w.phrase));
    detail.append(h("h3", {}, terms ? "Terms of its text" : "Nearest phrases"),
      grid([terms ? "term" : "phrase", "score", "AUC", "p"],
           list.map(w => [h("bdi", {}, w.phrase), decimal(w.score, 3), decimal(w.auc, 2), small(w.p)])),
      h("p", { class: "key-line" }, terms ? "Terms of a column of text that rows of the slice have more often than other rows of " +
        "the class. Score: z of their log odds, with the class as prior (Monroe et al. 2008). AUC: how often a row of the slice " +
        "has the term and another row has not; 0.5 is chance. p: chance of as many rows with the term in a random group of this " +
        "size, times the number of terms." : "Score: similarity to the slice’s mean minus that to the class’s. AUC: how often a row " +
        "of the slice is nearer to the phrase than another row of the class; 0.5 is chance. p: how often the best phrase of " +
        "a random group of this size scores as much."));
  }

  function conjunction(k) {
    const row = (name, f) => [name, f(k.held_out), f(k.all)];
    detail.append(h("h3", {}, "Attributes: ", h("b", {}, ...k.items.flatMap((t, i) => [i ? " and " : "", h("bdi", {}, t)]))),
      grid(["rows of the class", "unseen half", "all rows"], [
        row("with these attributes, wrong", m => `${count(m.wrong)} of ${count(m.covered)}`),
        row("of these in the slice (precision)", m => `${count(m.inside)} of ${count(m.covered)}, ${percent(m.precision)}`),
        row("of the slice with these (recall)", m => `${count(m.inside)} of ${count(m.group ?? m.slice)}, ${percent(m.recall)}`),
        row("times as many in the slice as in the class", m => small(m.lift)), row("p", m => small(m.p))]),
      h("p", { class: "key-line" }, "Chosen on one half of the class’s rows and stated on the other. p: chance of as many in the " +
        "slice for a random choice of rows; it says how well the attributes tell the slice, not how often the model fails."));
  }

  function gallery(s) {
    const here = s.worst.filter(i => Picture.has(what.places[s.place].row[i])), all = Card.distinct(s.place, here);
    const figure = ([i, times]) => h("li", {}, Card.picture(s.place, i, 76, times),
                                     h("small", { "aria-hidden": "true" }, Data.row(s.place, i).confidence.toFixed(2)));
    const shown = all.slice(0, GALLERY), rows = shown.reduce((n, [, times]) => n + times, 0);
    const few = rows < s.size ? ` (${count(rows)} of ${count(s.size)} rows)` : "";
    detail.append(h("h3", {}, `Least confident first${few}`), h("ul", { class: "gallery" }, ...shown.map(figure)));
    if (s.near.length)
      detail.append(h("h3", {}, "Nearest of the class that the model gets right"),
                    h("ul", { class: "gallery" }, ...Card.distinct(s.place, s.near).map(figure)));
  }

  function table(s) {
    const rows = s.worst.slice(0, ROWS).map(i => Data.row(s.place, i)), guess = rows.some(r => r.predicted !== null);
    const head = ["id", "class", ...guess ? ["predicted"] : [], "confidence", "wrong"];
    const cells = r => [h("bdi", {}, r.id), h("bdi", {}, r.target ?? ""), ...guess ? [h("bdi", {}, r.predicted ?? "")] : [],
                        r.confidence.toFixed(2), r.wrong ? "✕" : ""];
    const body = () => h("table", {}, h("thead", {}, h("tr", {}, ...head.map(t => h("th", { scope: "col" }, t)))),
      h("tbody", {}, ...rows.map(r => h("tr", {}, ...cells(r).map(c => h("td", {}, c))))));
    const fill = () => { if (box.open && !box.querySelector("table")) box.append(body()); };
    const box = h("details", { open: !Picture.there, ontoggle: fill },
      h("summary", {}, `Rows as a table${rows.length < s.size ? ` (the first ${rows.length} of ${count(s.size)})` : ""}`));
    detail.append(box);
  }

  return { draw, place, park };
})();

// ---- saving: the columns of slices.csv; JSON with the numbers, too ----

const Export = (() => {
  const quote = t => /[",\n\r]/.test(t) ? `"${t.replaceAll("\"", "\"\"")}"` : t;

  function save(name, type, text) {
    const url = URL.createObjectURL(new Blob([text], { type })), a = h("a", { href: url, download: name });
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
    say(`saved ${name}`);
  }

  const fileName = name => name.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 80);
  const seedOf = s => s.own || what.findings[s.finding].merged ? "" : what.findings[s.finding].seed;

  function csvText(slices) {
    const lines = ["id,class,method,seed,rank,score"];
    for (const s of slices)
      for (const i of s.member) {
        const r = Data.row(s.place, i);
        lines.push([r.id, isRun ? Data.placeName(s.place) : r.target ?? "", s.own ? s.name : List.methodOf(s), seedOf(s),
                    s.own ? "" : s.rank, s.own ? "" : s.score].map(v => quote(String(v ?? ""))).join(","));
      }
    return lines.join("\n") + "\n";
  }

  function jsonText(slices) {
    return JSON.stringify({ spotter: what.spotter, slices: slices.map(s => ({
      name: List.nameOf(s), [isRun ? "ec" : "class"]: Data.placeName(s.place), model: Data.model(s.place).name,
      method: List.methodOf(s), seed: seedOf(s) || null, rank: s.own ? null : s.rank,
      claim: s.proof ? s.proof.claim : null, p: s.proof ? s.proof.corrected_p : null,
      ...Object.fromEntries(what.slice_columns.map(q => [q.name, s[q.name]])), words: s.words, conjunction: s.conjunction,
      ids: Array.from(s.member, i => Data.row(s.place, i).id) })) }, null, 1) + "\n";
  }

  return { csv: (s, name) => save(`${fileName(name)}.csv`, "text/csv", csvText(s)),
           json: (s, name) => save(`${fileName(name)}.json`, "application/json", jsonText(s)), csvText, jsonText };
})();
