// page_list.js - filters, the slices by what is claimed of them, slices of one's own, and what is selected.

const List = (() => {
  const box = document.getElementById("list"), narrow = window.matchMedia("(max-width: 1100px)");
  const filter = { model: "0", place: "", method: "", seed: "", order: "" };
  const own = [];                       // slices drawn on the map
  const FOLDS = { suggested: ["What is suggested", "Not proved, but better than the best of searches in errors without " +
                              "structure."],
                  chance: ["What may be chance", "The tests do not tell these from chance: no blindspots until more rows " +
                           "say so."],
                  fine: ["What is fine", "No more errors than in the rest of the class."] };
  let entries = [], shown = {}, selected = null, partner = null, own_count = 0;
  const page = () => narrow.matches && !isRun ? 12 : 40;

  // ---- filters ----

  const unique = list => [...new Set(list)];
  const matches = f => {
    const p = what.places[f.place];
    return (filter.model === "" || String(p.model) === filter.model) &&
           (filter.place === "" || Data.placeKey(f.place) === filter.place) &&
           (f.merged || ((filter.method === "" || f.method === filter.method) &&
                         (filter.seed === "" || f.seed === filter.seed)));
  };
  const wanted = s => matches(what.findings[s.finding]) &&
                      (filter.method === "" || Claim.methods(s).includes(filter.method));

  function select(name, label, values, all) {
    const options = values.map(([value, text]) => h("option", { value, selected: filter[name] === value }, text));
    if (all) options.unshift(h("option", { value: "", selected: filter[name] === "" }, all));
    return h("label", {}, h("span", {}, label),
             h("select", { id: "by-" + name, onchange: e => { filter[name] = e.target.value; refresh(); } }, ...options));
  }

  function filters() {
    const form = document.getElementById("filters"), places = unique(what.places.map((p, k) => Data.placeKey(k)));
    const merged = what.findings.some(f => f.merged), seeds = unique(what.findings.map(f => f.seed));
    const methods = unique([...what.findings.filter(f => !f.merged).map(f => f.method),
                            ...Claim.all().flatMap(Claim.methods)]);
    const first = what.findings.find(f => f.slices.length) || what.findings[0];
    if (!first) return;
    filter.method = merged ? "" : first.method;
    filter.seed = merged ? "" : first.seed;
    filter.model = String(what.places[first.place].model);
    const nameOf = key => isRun ? key : key === "-1" ? "slices across classes" : what.classes[+key];
    filter.place = isRun || places.length === 1 ? Data.placeKey(first.place) : "";
    if (Data.manyModels) form.append(select("model", "Model", what.models.map((m, k) => [String(k), m.name])));
    if (places.length > 1)
      form.append(select("place", isRun ? "EC" : "Class", places.map(p => [p, nameOf(p)]), isRun ? null : "all classes"));
    if (methods.length > 1) form.append(select("method", "Method", methods.map(m => [m, m]), "all methods"));
    if (seeds.length > 1) form.append(select("seed", "Seed", seeds.map(s => [s, s]), "all seeds"));
    form.append(select("order", "Order", [["", Claim.tested ? "confirmed first, most errors in excess" : "worst first"],
                                          ["rank", "as the method ranks"], ["rate", "error rate"], ["share", "share of errors"], ["size", "size"]]));
    form.addEventListener("submit", e => e.preventDefault());
  }

  const orders = {
    rank: (a, b) => a.rank - b.rank || Claim.order(a, b),
    rate: (a, b) => (Claim.rate(b) || 0) - (Claim.rate(a) || 0) || b.size - a.size,
    share: (a, b) => (b.share_of_errors || 0) - (a.share_of_errors || 0),
    size: (a, b) => b.size - a.size,
    "": Claim.order,
  };

  async function refresh(begin = true) {
    const found = what.findings.map((f, i) => i).filter(i => matches(what.findings[i]));
    await Promise.all(found.map(Data.finding));
    entries = found.flatMap(i => what.findings[i].slices).filter(wanted);
    entries.sort(orders[filter.order || (isRun && found.length === 1 ? "rank" : "")]);
    shown = { main: page(), suggested: page(), chance: page(), fine: page() };
    selected = null;
    partner = null;
    const first = entries[0] ? entries[0].finding : found[0];
    if (first !== undefined) await showFinding(first);
    draw();
    Detail.draw(selected, partner);
    Compare.begin(first);
    if (isRun) Run.show(first);
    const first_card = sections().main[0];
    if (begin && !isRun && !narrow.matches && first_card) await choose(first_card, null, { silent: true });
    say(shownWords());
  }

  // Slices that the list shows, and those that lie under folds.
  function shownWords() {
    const n = Claim.kinds(entries), part = [];
    if (isRun) return `${plural(entries.length, "hypothesis", "hypotheses")} shown`;
    if (entries.some(s => s.proof)) part.push(plural(n.confirmed, "confirmed blindspot"));
    if (n.open || !part.length) part.push(`${plural(n.open, "slice")} with more errors than elsewhere, not tested,`);
    const under = [n.suggested ? `${count(n.suggested)} suggested` : null, n.chance ? `${count(n.chance)} that may be chance` : null,
                   n.fine ? `${count(n.fine)} with no more errors than elsewhere` : null].filter(Boolean);
    return `${part.join(" and ")} shown${under.length ? `; under folds ${under.join(", ")}` : ""}`;
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

  const nameOf = Claim.name;
  const methodOf = s => Claim.methods(s).join(", ");
  // Where a slice stands: in the list, below its class in the table of classes, or under a fold.
  const partOf = s => FOLDS[s.kind] ? s.kind : Claim.entryOf(s)?.folded ? "cells" : "main";
  const sections = () => {
    const part = { main: [], cells: [], suggested: [], chance: [], fine: [] };
    for (const s of entries) part[partOf(s)].push(s);
    return part;
  };
  const mixed = () => new Set(entries.filter(s => !what.findings[s.finding].merged).flatMap(s =>
    [what.findings[s.finding].method, what.findings[s.finding].seed].join(" "))).size > 1;

  const card = s => Card.draw(s, selected === s, mixed(), () => choose(s));

  // The slices of a list, those of one entry together in the place of the first, its head before the others.
  const isOpen = new Set();             // entries whose other slices are unfolded
  function items(list) {
    const at = new Map(), out = [];
    for (const s of list) {
      const key = Claim.entryOf(s);
      if (key && at.has(key)) at.get(key)[Claim.isHead(s) ? "unshift" : "push"](s);
      else out.push([s]);
      if (key && !at.has(key)) at.set(key, out.at(-1));
    }
    return out;
  }

  function item([first, ...others]) {
    const key = Claim.entryOf(first);
    return Card.draw(first, selected === first, mixed(), () => choose(first), others.map(card), isOpen.has(key), e => {
      if (e.target.open) isOpen.add(key);
      else isOpen.delete(key);
      roving();
    });
  }

  // The first cards of a list, and a button for more.
  function cards(slices, key, id) {
    const list = items(slices), out = [h("ol", { class: "cards", id }, ...list.slice(0, shown[key]).map(item))];
    if (shown[key] < list.length)
      out.push(h("p", { class: "row" }, button(`Show more (${count(list.length - shown[key])} left)`, () => {
        shown[key] = Math.min(list.length, shown[key] + 40);
        draw();
      })));
    return out;
  }

  function fold(key, list, open) {
    const [title, hint] = FOLDS[key];
    return h("details", { class: "fold", id: `fold-${key}`, open, ontoggle: roving },
      h("summary", {}, h("h2", {}, title), ` ${plural(list.length, "slice")}`),
      h("p", { class: "key-line" }, hint), ...cards(list, key, null));
  }

  function keyLine() {
    return h("details", { class: "key-line", id: "key" }, h("summary", {}, "How to read a card"),
      `Bar: error rate${entries.some(s => s.interval) ? " with its 95 % interval" : ""}` +
      `${entries.some(s => s.proof) ? ", of rows that the search had not seen" : ""}; the tick: that of `,
      isRun ? "all images of the EC. " : "its class. ", entries.some(s => s.proof) ? "Unseen rows: those that the search had " +
      "not seen; they prove. Excess: their error rate less that of their class; to expect: what of it new rows should show. " : "",
      Picture.there ? "Pictures: the least confident first, ✕ where the model is wrong; beyond the dotted line the nearest " +
      "that it gets right. " : "",
      entries.some(s => s.words) ? "In quotes: the phrases that are nearest to the slice, or terms of its text. " : "",
      entries.some(s => s.conjunction) ? "Attributes: those that tell it best from the rest of its class." : "");
  }

  function title() {
    if (isRun) return "Hypotheses, ranked";
    if (!entries.some(s => s.proof)) return "Slices with more errors than elsewhere, not tested";
    return "Causes of errors, confirmed";
  }

  function draw() {
    const key = keyLine();
    key.open = document.getElementById("key")?.open || false;
    const old = document.activeElement && box.contains(document.activeElement), part = sections();
    const open = key => document.getElementById(`fold-${key}`)?.open ?? (selected?.kind === key ||
                        (key === "suggested" && !part.main.length));
    const folds = Object.keys(FOLDS).filter(k => part[k].length).map(k => fold(k, part[k], open(k)));
    Detail.park();
    box.replaceChildren();
    if (own.length)
      box.append(h("h2", {}, "Slices of your own"), h("ol", { class: "cards" }, ...own.map(card)),
                 h("p", { class: "row" }, button("Save all as CSV", () => Export.csv(own, "slices-of-my-own")),
                   button("Save all as JSON", () => Export.json(own, "slices-of-my-own"))));
    box.append(h("h2", {}, title()), key);
    if (part.main.length) box.append(...cards(part.main, "main", "cards"));
    else box.append(h("p", { class: "empty" }, emptyWords()));
    if (!isRun) box.append(...Classes.draw(+filter.model, filter.place, items(part.cells), item), ...Rule.draw(+filter.model));
    box.append(...folds);
    roving();
    Detail.place(selected, narrow.matches && !isRun);
    if (old && selected && selected.button) selected.button.focus();
  }

  function emptyWords() {
    const failed = what.findings.filter(f => matches(f) && f.failed);
    if (failed.length) return `Nothing here: ${failed[0].failed}`;
    if (!what.findings.length) return "Nothing was examined; the notes above say why.";
    if (!entries.length) return "No slice was found here.";
    return entries.some(s => s.proof) ? "No slice is confirmed here."
      : "No slice has more errors than the rest of its class here.";
  }

  // One stop of the tab key for the list; arrow keys go on from card to card and select.
  const buttons = () => [...box.querySelectorAll("button.card")].filter(b => !b.closest("details:not([open])"));

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
    if (all[to].getAttribute("aria-pressed") !== "true") {
      const s = [...own, ...entries].find(t => t.button === all[to]);
      if (s) choose(s, null, { replace: true });
    }
  });

  function button(text, onclick, more = {}) { return h("button", { type: "button", class: "small", onclick, ...more }, text); }

  // ---- selecting ----

  // how: { silent } is not told and has no address; { replace } puts its address in place of the last one; { follow } came from
  // an address.
  async function choose(s, other = null, how = {}) {
    if (selected === s && !other && !how.follow) return clear();
    const before = selected;
    selected = s;
    partner = other;
    if (!how.silent) reveal(s);
    if (s.own) await PointMap.show(s.place, mapOf(s.place), finding >= 0 && what.findings[finding].place === s.place
                                   ? what.findings[finding].slices : []);
    else if (s.finding !== finding) await showFinding(s.finding);
    if (selected !== s) return;
    if (before && before.button) before.button.setAttribute("aria-pressed", "false");
    if (s.button) s.button.setAttribute("aria-pressed", "true");
    roving();
    PointMap.light(other ? [s, other] : [s]);
    Detail.draw(selected, partner);
    Detail.place(s, narrow.matches && !isRun);
    if (how.silent) return;
    if (!how.follow) address(s.own ? null : s.address, how.replace);
    if (s.button) s.button.scrollIntoView({ block: narrow.matches && !isRun ? "start" : "nearest" });
    say(`${nameOf(s)} selected: ${plural(s.size, "row")}, ${percent(Claim.rate(s))} wrong` +
        `${s.own || isRun ? "" : `, ${Claim.word(s)}`}`);
  }

  // Opens the fold of a slice, and shows as many cards as there are before it.
  function reveal(s) {
    const key = partOf(s), at = items(sections()[key]).findIndex(list => list.includes(s));
    if (at >= shown[key]) {
      shown[key] = at + 1;
      draw();
    }
    for (let fold = s.button?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  }

  // ---- addresses: #slice-3 is a link to a slice ----

  function address(hash, replace) {
    const url = location.href.replace(/#.*$/, "") + (hash ? `#${hash}` : "");
    if (url === location.href) return;
    try {
      history[replace ? "replaceState" : "pushState"](null, "", url);
    } catch {                                             // a browser that keeps files from it
      if (hash) location.hash = hash;
    }
  }

  function setFilter(name, value) {
    const e = document.getElementById("by-" + name);
    filter[name] = value;
    if (e) e.value = value;
  }

  // Shows what the address says: after a link, the back button, or at the start.
  async function follow() {
    const hash = location.hash.slice(1), s = Claim.at(hash);
    if (!s) {
      if (!hash && selected) clear({ follow: true });
      return;
    }
    if (!wanted(s)) {
      const f = what.findings[s.finding];
      setFilter("model", String(what.places[s.place].model));
      setFilter("place", isRun ? Data.placeKey(s.place) : "");
      setFilter("method", f.merged ? "" : f.method);
      setFilter("seed", f.merged ? "" : f.seed);
      await refresh(false);
    }
    await choose(s, null, { follow: true });
  }

  const mapOf = place => finding >= 0 && what.findings[finding].place === place ? what.findings[finding].map
    : what.findings.find(f => f.place === place).map;

  function clear(how = {}) {
    if (selected && selected.button) selected.button.setAttribute("aria-pressed", "false");
    selected = null;
    partner = null;
    PointMap.light([]);
    Detail.draw(selected, partner);
    Detail.place(null, false);
    if (!how.follow && Claim.at(location.hash.slice(1))) address(null, false);
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
    const of = m && (m.of === null ? "a map of their principal components (PCA)" : `the map of ${m.of}`) +
      (m.of === null && f.merged ? ", drawn for this page alone: no slice was found on it" : "") +
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

  async function addOwn(member, k = PointMap.place(), called = "") {
    if (!member.length) { say("no points there"); return; }
    const s = await Data.slice(called || `my slice ${++own_count}`, k, member);
    own.unshift(s);
    draw();
    choose(s);
    Compare.begin(finding);
  }

  function describe(place, i) {
    const r = Data.row(place, i), p = what.places[place], in_ = [];
    if (finding >= 0 && what.findings[finding].place === place)
      for (const s of what.findings[finding].slices) if (has(s.member, i)) in_.push(nameOf(s));
    return h("div", { class: "about" }, Picture.has(p.row[i]) ? Picture.show(p.row[i], r.id, 112) : null,
      h("div", {}, h("bdi", { class: "id" }, r.id),
        h("span", {}, `confidence ${r.confidence.toFixed(2)}, `, r.wrong ? h("b", {}, "✕ wrong") : "right"),
        r.target !== null ? h("span", {}, "class ", h("bdi", {}, r.target)) : null,
        r.predicted !== null && r.wrong ? h("span", {}, "predicted as ", h("bdi", {}, r.predicted)) : null,
        isRun ? Run.describe(place, i) : null,
        in_.length ? h("span", {}, "in ", h("bdi", {}, in_.join(", "))) : null,
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
    PointMap.onLasso(member => addOwn(member));
    window.addEventListener("popstate", follow);
    narrow.addEventListener("change", () => draw());
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

  return { filters, tools, listen, refresh, follow, choose, clear, draw, remove, addOwn, roving, nameOf, methodOf, button,
           own: () => own, selected: () => selected, finding: () => finding };
})();
