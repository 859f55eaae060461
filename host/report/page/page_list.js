// page_list.js - what was examined, filters, the ranked slices, slices of one's own, and what is selected.

const List = (() => {
  const box = document.getElementById("list");
  const filter = { model: "0", place: "", method: "", seed: "", order: "" };
  const own = [];                       // slices drawn on the map
  let entries = [], shown = 0, selected = null, partner = null, own_count = 0;
  const PAGE = 40, STRIP = 8, NEAR = 3, TILE = 56;

  // More of it is wrong than of the rest of its class: the others are no blindspots, whatever their method says.
  const standsOut = (s, p) => p.n > s.size && s.rate > (p.wrong - s.wrong) / (p.n - s.size);

  // ---- the head of the page ----

  function head() {
    document.getElementById("title").textContent = what.title;
    document.title = `${what.title} – Spotter`;
    const sources = document.getElementById("sources"), facts = document.getElementById("facts");
    const fact = (name, value, note) =>
      facts.append(h("div", {}, h("dt", {}, name), h("dd", {}, h("b", {}, value), note ? h("span", {}, note) : null)));
    for (const m of what.models)
      sources.append(h("p", { class: "source" }, Data.manyModels ? h("b", {}, m.name + ": ") : null, h("bdi", {}, m.source)));
    if (isRun) Run.facts(fact);
    else {
      fact("rows", count(what.rows));
      fact("classes examined", count(new Set(what.places.map(p => p.class)).size),
           what.places.some(p => p.class < 0) ? "together" : `of ${count(what.classes.length)}`);
      for (const m of what.models)
        fact(Data.manyModels ? `accuracy, ${m.name}` : "accuracy", percent(m.judged ? 1 - m.wrong / m.judged : null, 1),
             `${count(m.wrong)} wrong${m.several ? ` of ${count(m.judged)} labels` : ""}`);
      const all = what.findings.flatMap(f => f.slices.map(s => standsOut(s, what.places[f.place])));
      fact("blindspots", count(all.filter(Boolean).length),
           `of ${plural(all.length, "slice")} by ${plural(new Set(what.findings.map(f => f.method)).size, "method")}`);
    }
    notes();
  }

  function notes() {
    const out = [...(what.notes || [])], p = what.pictures;
    const few = what.left_out || [];
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
    if (p && p.unreadable)
      out.push(`${plural(p.unreadable, "picture")} could not be read; a box with the name stands in the place.`);
    if (p && p.given + p.unreadable < p.there)
      out.push(`To stay small this page holds ${count(p.given)} of ${count(p.there)} pictures, those of blindspots first` +
               `${p.others < p.wanted ? `, most of them ${p.others} pixels wide` : ""}. Numbers are of all rows. ` +
               "The option --full takes all pictures.");
    else if (p && p.others < p.wanted)
      out.push(`To stay small this page holds most pictures only ${p.others} pixels wide; the option --full takes larger ` +
               "ones.");
    if (out.length) document.getElementById("notes").append(h("ul", { class: "notes" }, ...out.map(t => h("li", {}, t))));
  }

  // ---- filters ----

  const unique = list => [...new Set(list)];
  const matches = f => {
    const p = what.places[f.place];
    return (filter.model === "" || String(p.model) === filter.model) && (filter.method === "" || f.method === filter.method) &&
           (filter.place === "" || Data.placeName(f.place) === filter.place) && (filter.seed === "" || f.seed === filter.seed);
  };

  function select(name, label, values, all) {
    const options = values.map(([value, text]) => h("option", { value, selected: filter[name] === value }, text));
    if (all) options.unshift(h("option", { value: "", selected: filter[name] === "" }, all));
    return h("label", {}, h("span", {}, label),
             h("select", { id: "by-" + name, onchange: e => { filter[name] = e.target.value; refresh(); } }, ...options));
  }

  function filters() {
    const form = document.getElementById("filters"), places = unique(what.places.map((p, k) => Data.placeName(k)));
    const methods = unique(what.findings.map(f => f.method)), seeds = unique(what.findings.map(f => f.seed));
    const first = what.findings.find(f => f.slices.length) || what.findings[0];
    if (!first) return;
    filter.method = first.method;
    filter.seed = first.seed;
    filter.model = String(what.places[first.place].model);
    filter.place = isRun || places.length === 1 ? Data.placeName(first.place) : "";
    if (Data.manyModels) form.append(select("model", "Model", what.models.map((m, k) => [String(k), m.name])));
    if (places.length > 1)
      form.append(select("place", isRun ? "EC" : "Class", places.map(p => [p, p]), isRun ? null : "all classes"));
    if (methods.length > 1) form.append(select("method", "Method", methods.map(m => [m, m]), "all methods"));
    if (seeds.length > 1) form.append(select("seed", "Seed", seeds.map(s => [s, s]), "all seeds"));
    form.append(select("order", "Order", [["", "worst first"], ["rank", "as the method ranks"], ["rate", "error rate"],
                                          ["share", "share of errors"], ["size", "size"]]));
    form.addEventListener("submit", e => e.preventDefault());
  }

  // Errors times error rate: many errors, and little else. A single finding keeps its method's own order.
  const harm = s => s.wrong * (s.rate || 0);
  const orders = {
    rank: (a, b) => a.rank - b.rank || harm(b) - harm(a),
    rate: (a, b) => (b.rate || 0) - (a.rate || 0) || b.size - a.size,
    share: (a, b) => (b.share || 0) - (a.share || 0),
    size: (a, b) => b.size - a.size,
    "": (a, b) => harm(b) - harm(a),
  };

  async function refresh() {
    const found = what.findings.map((f, i) => i).filter(i => matches(what.findings[i]));
    await Promise.all(found.map(Data.finding));
    entries = found.flatMap(i => what.findings[i].slices);
    entries.sort(filter.order === "" && found.length === 1 ? orders.rank : orders[filter.order]);
    shown = Math.min(PAGE, entries.length);
    selected = null;
    partner = null;
    const first = entries[0] ? entries[0].finding : found[0];
    if (first !== undefined) await showFinding(first);
    draw();
    Detail.draw(selected, partner);
    Compare.begin(first);
    if (isRun) Run.show(first);
    say(`${plural(entries.length, "blindspot")} shown`);
  }

  let finding = -1;
  async function showFinding(i) {
    const f = await Data.finding(i);
    finding = i;
    await PointMap.show(f.place, f.map, f.slices);
    legend(f);
    Run.mark(f.place);
  }

  // ---- the list ----

  const nameOf = s => s.own ? s.name : `Blindspot ${s.rank}`;
  const methodOf = s => s.own ? "lasso" : what.findings[s.finding].method;

  // The error rate as a bar, with a mark where that of the whole class stands.
  function bar(s) {
    const p = what.places[s.place], base = p.n ? p.wrong / p.n : 0;
    const title = `${percent(s.rate)} of the slice and ${percent(base)} of all ` +
                  `${isRun ? "images of the EC" : "rows of its class"} are wrong`;
    return h("span", { class: "bar-rate", "aria-hidden": "true", title },
             h("span", { class: "fill", style: `width:${100 * (s.rate || 0)}%` }),
             h("span", { class: "base", style: `left:${100 * base}%` }));
  }

  function numbers(s) {
    const p = what.places[s.place];
    return h("span", { class: "numbers" },
             h("span", {}, h("b", {}, count(s.size)), s.size === 1 ? " row" : " rows"),
             h("span", {}, h("b", {}, percent(s.rate)), " wrong"),
             h("span", {}, h("b", {}, percent(s.share)), ` of ${p.class < 0 || isRun ? "all" : "the class’s"} errors`));
  }

  const rowName = (place, i) => {
    const r = Data.row(place, i);
    return `${r.id}, confidence ${r.confidence.toFixed(2)}, ${r.wrong ? "wrong" : "right"}`;
  };

  function picture(place, i, size) {
    const p = what.places[place], e = Picture.show(p.row[i], Data.row(place, i).id, size);
    return h("span", { class: p.isBad[i] ? "tile wrong" : "tile", style: `width:${size}px`, title: rowName(place, i) }, e);
  }

  // Members by confidence as a strip of colour: what a slice looks like when there are no pictures.
  function spectrum(s) {
    const p = what.places[s.place], bars = 48, cells = [];
    for (let b = 0; b < bars; b++) {
      const i = s.worst[Math.floor((b + 0.5) * s.worst.length / bars)];
      cells.push(h("i", { style: `--t:${p.at[i] / 255}` }));
    }
    return h("span", { class: "spectrum", role: "img", "aria-label": `mean confidence ${s.confidence.toFixed(2)}`,
                       title: "the slice’s rows by confidence, the least first" }, ...cells);
  }

  function strip(s, most) {
    if (!s.size) return null;
    if (!Picture.there)
      return h("span", { class: "strip words" }, spectrum(s),
               h("span", { class: "ids" }, ...s.worst.slice(0, 4).flatMap((i, k) =>
                 [k ? ", " : "worst: ", h("bdi", {}, Data.row(s.place, i).id)]), s.worst.length > 4 ? ", …" : ""));
    const out = h("span", { class: "strip" },
                  h("span", { class: "worst" }, ...s.worst.slice(0, most).map(i => picture(s.place, i, TILE))));
    if (s.near.length)
      out.append(h("span", { class: "near", title: "the nearest images of the class that the model gets right" },
                   ...s.near.slice(0, NEAR).map(i => picture(s.place, i, TILE))));
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

  function card(s) {
    const label = `${nameOf(s)}${Data.manyPlaces ? `, ${Data.placeName(s.place)}` : ""}: ${plural(s.size, "row")}, ` +
                  `${percent(s.rate)} wrong, ${percent(s.share)} of errors`;
    const p = what.places[s.place];
    const where = [Data.manyPlaces && !isRun ? Data.placeName(s.place) : null,
                   filter.method === "" ? methodOf(s) : null,
                   filter.seed === "" && Data.manySeeds && !s.own ? `seed ${what.findings[s.finding].seed}` : null,
                   s.note, s.own || standsOut(s, p) ? null : p.n > s.size ? "no more errors than elsewhere" : "the whole class",
                  ].filter(Boolean).join(" · ");
    const button = h("button", { type: "button", class: "card", "aria-pressed": String(selected === s), "aria-label": label,
                                 onclick: () => choose(s) },
                     h("span", { class: "line" },
                       h("span", { class: "rank" }, s.own ? "✎" : String(s.rank)),
                       h("span", { class: "where" }, s.own ? h("bdi", {}, s.name) : h("bdi", {}, where || nameOf(s))),
                       numbers(s)),
                     ...said(s), bar(s), strip(s, STRIP));
    s.button = button;
    return h("li", {}, button);
  }

  function draw() {
    const title = isRun ? "Hypotheses, ranked" : "Blindspots, ranked";
    const old = document.activeElement && box.contains(document.activeElement);
    box.replaceChildren();
    if (own.length)
      box.append(h("h2", {}, "Slices of your own"), h("ol", { class: "cards" }, ...own.map(card)),
                 h("p", { class: "row" }, button("Save all as CSV", () => Export.csv(own, "slices-of-my-own")),
                   button("Save all as JSON", () => Export.json(own, "slices-of-my-own"))));
    box.append(h("h2", {}, title), h("p", { class: "key-line" }, "Bar: error rate, with a mark at that of ",
      isRun ? "all images of the EC. " : "its class. ", Picture.there ? "Pictures: the least confident first, ✕ where the " +
      "model is wrong; behind the dotted line the nearest that it gets right. " : "",
      entries.some(s => s.words) ? "In quotes: the phrases that are nearest to the slice. " : "",
      entries.some(s => s.conjunction) ? "Plain: the attributes that tell it best from the rest of its class." : ""));
    if (!entries.length) box.append(h("p", { class: "empty" }, emptyWords()));
    else box.append(h("ol", { class: "cards", id: "cards" }, ...entries.slice(0, shown).map(card)));
    if (shown < entries.length)
      box.append(h("p", { class: "row" }, button(`Show more (${count(entries.length - shown)} left)`, () => {
        shown = Math.min(entries.length, shown + PAGE);
        draw();
      })));
    roving();
    if (old && selected && selected.button) selected.button.focus();
  }

  function emptyWords() {
    const failed = what.findings.filter(f => matches(f) && f.failed);
    if (failed.length) return `Nothing here: ${failed[0].failed}`;
    return what.findings.length ? "No blindspot was found here." : "Nothing was examined; the notes above say why.";
  }

  // One stop of the tab key for the list; arrow keys go on from card to card and select.
  const buttons = () => [...box.querySelectorAll("button.card")];

  function roving() {
    const all = buttons(), on = Math.max(0, all.findIndex(b => b.getAttribute("aria-pressed") === "true"));
    all.forEach((b, i) => { b.tabIndex = i === on ? 0 : -1; });
  }

  box.addEventListener("keydown", e => {
    const all = buttons(), at = all.indexOf(document.activeElement);
    if (at < 0) return;
    const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0,
                 End: all.length - 1 }[e.key];
    if (to === undefined || !all[to]) return;
    e.preventDefault();
    all[to].focus();
    if (all[to].getAttribute("aria-pressed") !== "true") all[to].click();
  });

  function button(text, onclick, more = {}) { return h("button", { type: "button", class: "small", onclick, ...more }, text); }

  // ---- selecting ----

  async function choose(s, other = null) {
    if (selected === s && !other) return clear();
    const before = selected;
    selected = s;
    partner = other;
    if (s.own) await PointMap.show(s.place, mapOf(s.place), finding >= 0 && what.findings[finding].place === s.place
                                   ? what.findings[finding].slices : []);
    else if (s.finding !== finding) await showFinding(s.finding);
    if (before && before.button) before.button.setAttribute("aria-pressed", "false");
    if (s.button) {
      s.button.setAttribute("aria-pressed", "true");
      s.button.scrollIntoView({ block: "nearest" });
    }
    roving();
    PointMap.light(other ? [s, other] : [s]);
    Detail.draw(selected, partner);
    say(`${nameOf(s)} selected: ${plural(s.size, "row")}, ${percent(s.rate)} wrong`);
  }

  const mapOf = place => finding >= 0 && what.findings[finding].place === place ? what.findings[finding].map
    : what.findings.find(f => f.place === place).map;

  function clear() {
    if (selected && selected.button) selected.button.setAttribute("aria-pressed", "false");
    selected = null;
    partner = null;
    PointMap.light([]);
    Detail.draw(selected, partner);
  }

  // ---- the map's side ----

  function tools() {
    const box = document.getElementById("tools");
    box.append(
      button("Lasso", () => PointMap.setLassoMode(!PointMap.lassoMode()), { id: "lasso", "aria-pressed": "false",
        title: "draw around points to make a slice of your own (L; or drag with the shift key)" }),
      button("Take what is in view", () => addOwn(PointMap.inView()), { title: "a slice of all points that are in view (V)" }),
      h("span", { class: "gap" }),
      button("+", () => PointMap.zoomBy(1.5), { "aria-label": "zoom in", title: "zoom in (+)" }),
      button("−", () => PointMap.zoomBy(1 / 1.5), { "aria-label": "zoom out", title: "zoom out (-)" }),
      button("All", PointMap.reset, { title: "show the whole map (0)" }));
  }

  function legend(f) {
    const box = document.getElementById("legend"), p = what.places[f.place], m = f.map < 0 ? null : what.maps[f.map];
    const of = m && (m.of === null ? "a map of their principal components" : `the map of ${m.of}`) +
      (m.columns > 2 ? `: the first 2 of its ${m.columns} dimensions` : "");
    const on = m ? `${count(p.n)} rows${Data.manyPlaces ? ` of ${Data.placeName(f.place)}` : ""} on ${of}`
      : "There is no map of these rows.";
    document.getElementById("over").setAttribute("aria-label", `Map: ${on}, ${count(p.wrong)} wrong`);
    box.replaceChildren(
      h("span", { class: "key" }, "confidence 0 ", h("span", { class: "ramp" }), " 1"),
      h("span", { class: "key" }, h("b", { "aria-hidden": "true" }, "●"), " right"),
      h("span", { class: "key" }, h("b", { "aria-hidden": "true" }, "✕"), " wrong, drawn on top"),
      h("span", { class: "key on" }, h("bdi", {}, on)));
    if (isRun) Run.legend(box, f.place);
  }

  async function addOwn(member) {
    if (!member.length) { say("no points there"); return; }
    const s = await Data.slice(`my slice ${++own_count}`, PointMap.place(), member);
    own.unshift(s);
    draw();
    choose(s);
    Compare.begin(finding);
  }

  function describe(place, i) {
    const r = Data.row(place, i), p = what.places[place], in_ = [];
    if (finding >= 0 && what.findings[finding].place === place)
      for (const s of what.findings[finding].slices) if (has(s.member, i)) in_.push(s.rank);
    return h("div", { class: "about" }, Picture.has(p.row[i]) ? Picture.show(p.row[i], r.id, 112) : null,
      h("div", {}, h("bdi", { class: "id" }, r.id),
        h("span", {}, `confidence ${r.confidence.toFixed(2)}, `, r.wrong ? h("b", {}, "✕ wrong") : "right"),
        r.target !== null ? h("span", {}, "class ", h("bdi", {}, r.target)) : null,
        r.predicted !== null && r.wrong ? h("span", {}, "taken for ", h("bdi", {}, r.predicted)) : null,
        isRun ? Run.describe(place, i) : null,
        in_.length ? h("span", {}, `in blindspot ${in_.join(", ")}`) : null,
        Picture.there && !Picture.has(p.row[i]) ? h("span", { class: "dim" }, "its picture is not in this page") : null));
  }

  const has = (ascending, i) => {
    const at = d3.bisectLeft(ascending, i);
    return ascending[at] === i;
  };

  function listen() {
    PointMap.onPick((slice, i) => {
      if (slice) return choose(slice);
      if (i < 0) return clear();
      const all = finding >= 0 ? what.findings[finding].slices : [];
      const hit = own.find(s => s.place === PointMap.place() && has(s.member, i)) && !all.some(s => has(s.member, i))
        ? own.find(s => s.place === PointMap.place() && has(s.member, i)) : all.find(s => has(s.member, i));
      if (hit && hit !== selected) choose(hit);
      else if (!hit) clear();
    });
    PointMap.onLasso(addOwn);
    PointMap.onHover(describe);
    document.addEventListener("keydown", e => {
      if (e.key !== "Escape") return;
      if (PointMap.lassoMode()) PointMap.setLassoMode(false);
      else clear();
    });
  }

  // A slice of one's own goes, or has another name.
  function remove(s) {
    own.splice(own.indexOf(s), 1);
    clear();
    draw();
    Compare.begin(finding);
  }

  return { head, filters, tools, listen, refresh, choose, clear, draw, remove, picture, strip, nameOf, methodOf, numbers,
           button, own: () => own, selected: () => selected, finding: () => finding };
})();
