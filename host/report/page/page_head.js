// page_head.js - the head of the page: names, what the tests say in a sentence, numbers of the whole, notes.

const Head = (() => {
  const are = (n, one, many) => `${n ? count(n) : "no"} ${n === 1 ? one : many}`;

  // Tells how a model's slices were judged.
  function claims(k) {
    const list = Claim.all().filter(s => Claim.place(s).model === k), n = Claim.kinds(list);
    const pieces = list.reduce((sum, s) => sum + (s.proof ? s.proof.pieces.length : 0), 0);
    const tests = what.models[k].proof?.tests ?? pieces, proof = what.models[k].proof;
    const first = are(n.confirmed, "slice is a confirmed blindspot", "slices are confirmed blindspots");
    const rest = [[n.suggested, "is suggested", "are suggested"], [n.chance, "may be chance", "may be chance"],
                  [n.fine, "has no more errors than elsewhere", "have no more errors than elsewhere"]]
      .filter(([m]) => m).map(([m, one, many]) => are(m, one, many));
    const entries = what.models[k].entries.filter(e => e.claim === "confirmed"), cells = entries.filter(e => e.folded).length;
    const seem = [plural(entries.length - cells, "cause"), cells ? `${plural(cells, "cell")} of the confusion matrix` : null];
    const alike = n.confirmed > entries.length || cells
      ? ` ${n.confirmed === 1 ? "It is" : "They seem to be"} ${seem.filter(Boolean).join(" and ")}.` : "";
    const told = [first[0].toUpperCase() + first.slice(1), ...rest];
    const level = proof ? ` at the level ${percent(proof.level)}` : "";
    const beat = k === what.models.length - 1 && proof && proof.chance_searches && n.suggested
      ? ` Suggested: better than the best of ${plural(proof.chance_searches, "search", "searches")} in errors without structure.` : "";
    return [h("b", {}, `${told.length > 1 ? `${told.slice(0, -1).join(", ")} and ${told.at(-1)}` : told[0]}.`), alike,
            ` ${plural(tests, "test")} on rows that the search had not seen, corrected together${level}.${beat}`];
  }

  function untested(k) {
    const list = Claim.all().filter(s => Claim.place(s).model === k), n = Claim.kinds(list);
    const methods = new Set(list.flatMap(Claim.methods)).size;
    return [h("b", {}, `${count(n.open)} of ${plural(list.length, "slice")} by ${plural(methods, "method")} ` +
                       `${n.open === 1 ? "has" : "have"} more errors than the rest of their class.`),
            " Not tested: these slices were found and counted on the same rows, where chance alone gives some."];
  }

  const sentence = t => h("b", {}, `${t[0].toUpperCase()}${t.slice(1)}.`);
  const whose = m => Data.manyModels ? h("b", {}, h("bdi", {}, m.name), ": ") : null;

  // How much the features decide the answer.
  function features(d) {
    const same = d.same === null ? "" : `${percent(d.same)} of a row’s nearest neighbours have its answer (where features tell the ` +
      `class alone: ${percent(d.expected)}), and `;
    return [h("b", {}, "How much the features decide the answer: "), `${same}of a wrong and a right row the wrong one has more ` +
      `wrong neighbours in ${percent(d.wrong)} of cases (by chance: 50 %).`, d.decide ? " So the answer is nearly a function of " +
      "these features, and groups in them are cells of the confusion matrix. Others show other groups: --embed neutral, an " +
      "encoder, or --embeddings once more." : null];
  }

  // A line of the summary, whose command is seen as one.
  function written(text) {
    const at = text.search(/spotter [a-z]+ /);
    const words = at < 0 ? [] : text.slice(at).split(" ");
    return at < 0 ? [text] : [text.slice(0, at), h("code", {}, ...words.flatMap((w, i) => [i ? " " : null, h("span", {}, w)]))];
  }

  // The most important lines come first; of several models only how good each is, and what is proved.
  function summary(m, k) {
    const lines = Data.manyModels ? m.summary.slice(0, 1) : m.summary;
    const one = t => {
      const next = /^Next: /.test(t), cause = t.match(/^(\d+)\. /);
      const head = cause && Claim.numbered(k, +cause[1]);
      return h("p", { class: "lead" }, whose(m), ...cause ? [h("a", { class: "rank", href: `#${head.address}` }, cause[1]),
        ` ${t.slice(cause[0].length)}`] : next ? [h("b", {}, "Next: "), ...written(t.slice(6))] : [t]);
    };
    return lines.map(one);
  }

  function sentences() {
    return what.models.flatMap((m, k) => {
      const own = Claim.all().filter(s => Claim.place(s).model === k), said = own.some(s => s.proof) ? claims(k) : untested(k);
      return [...summary(m, k), h("p", { class: "tests" }, whose(m),
        ...(own.length ? said : m.note ? [] : [sentence("no slice was found")])),
        m.features ? h("p", { class: "tests features" }, whose(m), ...features(m.features)) : null].filter(Boolean);
    });
  }

  function examined(m) {
    const of = new Set(what.places.filter(p => what.models[p.model] === m && p.class >= 0).map(p => p.class)).size;
    const all = what.places.some(p => what.models[p.model] === m && p.class < 0);
    const part = [of ? `${count(of)} of ${plural(what.classes.length, "class", "classes")}` : null,
                  all ? "all classes together" : null];
    return `${part.filter(Boolean).join(", and ") || "no class"} examined`;
  }

  // A date is given with the findings, or it is that of the file.
  function date() {
    if (what.date) return what.date;
    const of = new Date(document.lastModified);
    if (location.protocol !== "file:" || Number.isNaN(of.getTime())) return null;
    return `file of ${of.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" })}`;
  }

  function names() {
    const one = what.models.length === 1 && !isRun ? what.models[0].name : null, about = [];
    const plain = what.title === "Blindspots" && !isRun, word = Claim.tested ? "Blindspots" : "Possible blindspots";
    const title = plain ? `${word}${one ? ` of ${one}` : ""}` : what.title;
    document.getElementById("title").textContent = title;
    document.title = `${title} – Spotter`;
    if (isRun) return null;
    if (one && !plain) about.push(["Model", one]);
    if (what.data) about.push(["Data", what.data]);
    if (date()) about.push(["Date", date()]);
    return about.length ? h("p", { class: "names" }, ...about.map(([k, v]) => h("span", {}, `${k}: `, h("bdi", {}, v)))) : null;
  }

  function draw() {
    const sources = document.getElementById("sources"), facts = document.getElementById("facts");
    const fact = (name, value, note) =>
      facts.append(h("div", {}, h("dt", {}, name), h("dd", {}, h("b", {}, value), note ? h("span", {}, note) : null)));
    const line = names();
    if (line) sources.append(line);
    sources.append(...(what.note || []).map((said, i) => h("p", { class: "lead" }, i ? said : h("b", {}, said))));
    for (const m of what.models)
      sources.append(h("p", { class: "source" }, whose(m), h("bdi", {}, m.source), isRun ? "" : ` · ${examined(m)}`,
                       m.groups ? ` · rows in ${plural(m.groups, "group")}` : ""));
    if (isRun) Run.facts(fact);
    else document.getElementById("claims").append(...sentences());
    notes();
  }

  // The unreadable pictures, each with its reason.
  function unreadable(p) {
    const said = p.unreadable_named || [], more = p.unreadable - said.length;
    const first = `${plural(p.unreadable, "picture")} could not be read; a box with the name stands in the place.`;
    if (!said.length) return first;
    return [first, h("details", {}, h("summary", {}, "Which, and why"), h("ul", { class: "plain-list" },
      ...said.map(t => h("li", {}, h("bdi", {}, t))), more ? h("li", {}, `and ${count(more)} more`) : null))];
  }

  function pictureNotes(out) {
    const p = what.pictures;
    if (!p) return;
    if (p.unreadable)
      out.push(unreadable(p));
    if (p.given + p.unreadable < p.there)
      out.push(`To stay small this page holds ${count(p.given)} of ${count(p.there)} pictures, those of blindspots first` +
               `${p.others < p.wanted ? `, most of them ${p.others} pixels wide` : ""}. Numbers are of all rows. ` +
               "The option --full takes all pictures.");
    else if (p.others < p.wanted)
      out.push(`To stay small this page holds most pictures only ${p.others} pixels wide; the option --full takes larger ` +
               "ones.");
  }

  function notes() {
    const out = [...(what.notes || [])], few = what.left_out || [];
    for (const m of what.models)
      if (m.skipped)
        out.push(`${plural(m.skipped, "picture")} could not be read and ${m.skipped === 1 ? "was" : "were"} left out.`);
    if (few.length) {
      const names = few.slice(0, 6).map(f => `${what.classes[f.class]} (${count(f.rows)})`).join(", ");
      out.push(`${plural(few.length, "class", "classes")} not examined, with too few rows or none that is wrong: ` +
               `${names}${few.length > 6 ? `, and ${few.length - 6} more` : ""}.`);
    }
    const failed = what.findings.filter(f => f.failed);
    for (const f of failed.slice(0, 6)) out.push(`${Data.findingName(f)} failed: ${f.failed}`);
    if (failed.length > 6) out.push(`${failed.length - 6} more failed; each says why where it is selected.`);
    if (what.no_figures) out.push(what.no_figures);
    pictureNotes(out);
    if (out.length) document.getElementById("notes").append(h("ul", { class: "notes" }, ...out.map(t => h("li", {}, ...[t].flat()))));
  }

  return { draw };
})();
