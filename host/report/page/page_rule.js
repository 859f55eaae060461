// page_rule.js - a rule of the reader's own: attributes, and perhaps a class, are typed, and its rows are counted here. The
// numbers are of rows that were seen before the rule was chosen, so the command that tests it stands beside them.

const Rule = (() => {
  const MOST = 300;                     // attributes that are listed
  let names = [], bits = null, size = 0, typed = "";
  const answer = h("div", { id: "rule-answer", "aria-live": "polite" });

  async function load() {
    if (!what.attributes) return;
    [names, bits] = await Promise.all([Block.words(what.attributes.names), Block.u8(what.attributes.bits)]);
    size = Math.ceil(what.rows / 8);
  }

  const has = (item, row) => bits[item * size + (row >> 3)] >> (row & 7) & 1;
  const plain = t => t.trim().toLowerCase().replace(/\s+/g, " ");

  // An attribute by its name, or by what stands before the limits of a third: "ink=low" is "ink=low (<= 0.3)".
  function find(word) {
    const whole = names.findIndex(n => plain(n) === word);
    return whole >= 0 ? whole : names.findIndex(n => plain(n).startsWith(`${word} (`));
  }

  // { items, cls (-1: every class) }, or { unknown: the word that is neither }, or { twice: true }: of two classes.
  function parse(text) {
    const items = [];
    let cls = -1;
    for (const part of text.split(/&/).map(t => t.trim()).filter(Boolean)) {
      const word = plain(part), own = word.replace(/^class=/, ""), item = find(word);
      const k = what.classes.findIndex(n => plain(n) === own);
      if (item >= 0) items.push(item);
      else if (k >= 0 && cls < 0) cls = k;
      else if (k >= 0) return { twice: true };
      else return { unknown: part };
    }
    return { items, cls };
  }

  // Rows of the model's classes: those with the rule, wrong ones, and wrong ones at the rates of their classes.
  async function counted({ items, cls }, m) {
    const all = what.places.map((p, k) => k).filter(k => what.places[k].model === m);
    const each = all.filter(k => what.places[k].class >= 0);
    const out = { rows: 0, wrong: 0, expected: 0, place: -1, member: [], classes: 0 };
    for (const k of each.length ? each : all) {
      if (cls >= 0 && what.places[k].class >= 0 && what.places[k].class !== cls) continue;
      const p = await Data.place(k), own = cls >= 0 && p.class < 0 ? what.models[m].targets : null;
      const member = Int32Array.from(p.row.keys()).filter(i =>
        items.every(t => has(t, p.row[i])) && (!own || own[p.row[i]] === cls));
      if (!member.length) continue;
      out.rows += member.length;
      out.wrong += member.reduce((n, i) => n + p.isBad[i], 0);
      out.expected += member.length * p.wrong / p.n;
      out.classes++;
      [out.place, out.member] = [k, member];
    }
    return out;
  }

  // As the command takes it.
  const said = rule => [...rule.cls >= 0 ? [what.classes[rule.cls]] : [], ...rule.items.map(k => names[k])].join(" & ");
  const quoted = t => t.replace(/["\\$`]/g, "\\$&");

  // An entry of the list that is this rule.
  const listed = (rule, m) => (what.models[m].entries || []).find(e => e.rule && e.rule.length === rule.items.length &&
    e.rule.every(t => rule.items.includes(names.indexOf(t))) && rule.cls === (e.class_number ?? -1));

  async function ask(text, m) {
    typed = text;
    const rule = parse(text);
    if (rule.unknown !== undefined)
      return answer.replaceChildren(h("p", { class: "hint" }, "There is no attribute and no class ",
                                      h("bdi", {}, `“${rule.unknown}”`), "."));
    if (rule.twice) return answer.replaceChildren(h("p", { class: "hint" }, "A row has one class: give one, or none."));
    if (!rule.items.length && rule.cls < 0) return answer.replaceChildren();
    const c = await counted(rule, m), rate = c.wrong / c.rows, base = c.expected / c.rows, same = listed(rule, m);
    if (!c.rows) return answer.replaceChildren(h("p", { class: "hint" }, "No row of the classes that were examined has all of this."));
    answer.replaceChildren(h("p", {}, h("b", {}, `${count(c.wrong)} of ${count(c.rows)}`), " rows wrong, ",
        h("b", {}, percent(rate)), ` (${rule.cls >= 0 ? "class" : "their classes"} ${percent(base)}): ${Card.points(rate - base)} points. `,
        same ? h("a", { href: `#slice-${same.number}` }, `Entry #${same.number} of the list is this rule.`) : null),
      h("p", { class: "hint" }, h("span", { class: "claim suggested" }, "suggested"), " These rows were seen before the rule was " +
        "chosen, so this is no proof. The test: ", h("code", {}, `spotter claim FOUND "${quoted(said(rule))}"`)),
      h("p", { class: "row" }, c.classes === 1
        ? List.button("Show these rows", () => List.addOwn(c.member, c.place, said(rule))) : null));
  }

  function draw(m) {
    if (!what.attributes || what.models[m].several) return [];
    const field = h("input", { id: "rule", class: "name", size: 34, value: typed, autocomplete: "off", spellcheck: "false",
                               "aria-label": "attributes, and a class, with & between them" });
    const add = t => { field.value = field.value.trim() ? `${field.value.replace(/\s*&?\s*$/, "")} & ${t}` : t; field.focus(); };
    const form = h("form", { class: "bar", onsubmit: e => { e.preventDefault(); ask(field.value, m); } }, field,
                   h("button", { class: "small", type: "submit" }, "Count"));
    return [h("section", { id: "own-rule", "aria-labelledby": "rule-title" },
      h("h2", { id: "rule-title" }, "A rule of your own"),
      h("p", { class: "key-line" }, "Attributes, and a class if you like, with & between them."), form,
      h("details", {}, h("summary", {}, plural(names.length, "attribute")), h("p", { class: "row items" },
        ...names.slice(0, MOST).map(t => List.button(t, () => add(t)))), names.length > MOST
        ? h("p", { class: "key-line" }, `and ${count(names.length - MOST)} more, which can be typed`) : null), answer)];
  }

  return { load, draw, ask, parse };
})();
