// page_rule.js - a rule of the reader's own: attributes, and perhaps a class, are typed, and its rows are counted here, in all
// classes, as `spotter claim` counts them. The numbers are of rows that were seen before the rule was chosen, so the command
// that tests it stands beside them.

const Rule = (() => {
  const MOST = 300;                     // attributes that are listed
  let names = [], bits = null, thirds = null, wrong = [], size = 0, typed = "", of = -1;
  const answer = h("div", { id: "rule-answer", "aria-live": "polite" });

  async function load() {
    if (!what.attributes) return;
    [names, bits, thirds] = await Promise.all([Block.words(what.attributes.names), Block.u8(what.attributes.bits),
                                               Block.u8(what.attributes.thirds)]);
    wrong = await Promise.all(what.attributes.models.map(m => m.wrong_rows === undefined ? null : Block.u8(m.wrong_rows)));
    size = Math.ceil(what.rows / 8);
  }

  const has = (item, row) => bits[item * size + (row >> 3)] >> (row & 7) & 1;
  const plain = t => t.toLowerCase().replace(/\s+/g, " ");

  // ---- what is typed: the names are those of the command, which the page forgives the case of letters ----

  // Items and classes that a condition names: an item, or a third by what stands before its limits ("ink=low" is "ink=low (<=
  // 0.3)"), or a class, with class= before it or without; the first kind that there is. Spelt as the command has it, or `like`
  // it. A name may stand between double quotes, as one that has & must; a quote in it is written twice.
  function called(part, like) {
    const q = part.match(/^(class=)?"((?:[^"]|"")*)"$/i), name = q ? q[2].replaceAll('""', '"') : part;
    const items = is => names.flatMap((n, i) => is(like(n), i) ? [{ item: i }] : []);
    const classes = t => what.classes.flatMap((n, i) => like(n) === like(t) ? [{ cls: i }] : []);
    const kinds = q && q[1] ? [] : [
      () => items(n => n === like(name)), () => items((n, i) => thirds[i] && n.startsWith(`${like(name)} (`)),
      () => !q && /^class=/i.test(part) ? classes(part.slice(6)) : []];
    for (const kind of kinds) if (kind().length) return kind();
    return classes(name);
  }

  // The conditions between &.
  const conditions = text => [...text.matchAll(/\s*((?:class=)?"(?:[^"]|"")*"[^&]*|[^&]*)(?:&|$)/gi)].map(m => m[1].trim())
    .filter(Boolean);

  // The first of several that are spelt so, as the command takes it; the only one that is so but for the case of letters.
  function find(word) {
    const exact = called(word, t => t), near = exact.length ? [] : called(word, plain);
    return exact[0] ?? (near.length > 1 ? { several: word } : near[0]);
  }

  // { items, cls (-1: every class) }, or { unknown: the word that is neither }, { several: a word of more than one name }, or
  // { twice: true }: of two classes.
  function parse(text) {
    const items = [], whole = find(text.trim());
    let cls = -1;
    for (const part of whole ? [text.trim()] : conditions(text)) {
      const is = find(part);
      if (!is) return { unknown: part };
      if (is.several) return is;
      if (is.cls !== undefined && cls >= 0 && cls !== is.cls) return { twice: true };
      if (is.cls !== undefined) cls = is.cls;
      else if (!items.includes(is.item)) items.push(is.item);
    }
    return { items, cls };
  }

  // As the command takes it, in one word of the shell.
  const spelt = name => name.includes("&") || name.startsWith('"') ? `"${name.replaceAll('"', '""')}"` : name;
  function said(rule) {
    const name = rule.cls >= 0 ? spelt(what.classes[rule.cls]) : "";
    const cls = rule.cls < 0 ? [] : called(name, t => t)[0].cls === rule.cls ? [name] : [`class=${name}`];
    return [...cls, ...rule.items.map(k => spelt(names[k]))].join(" & ");
  }
  const quoted = t => `'${t.replaceAll("'", "'\\''")}'`;

  // ---- its rows ----

  // Rows of the model's classes: those with the rule, wrong ones, and wrong ones at the rates of their classes.
  function counted({ items, cls }, m) {
    const targets = what.models[m].targets, all = what.classes.map(() => 0), bad = what.classes.map(() => 0);
    const rows = [];
    for (let i = 0; i < what.rows; i++) {
      all[targets[i]]++;
      bad[targets[i]] += wrong[m][i];
      if ((cls < 0 || targets[i] === cls) && items.every(t => has(t, i))) rows.push(i);
    }
    return { rows, wrong: rows.reduce((n, i) => n + wrong[m][i], 0),
             expected: rows.reduce((sum, i) => sum + bad[targets[i]] / all[targets[i]], 0),
             classes: [...new Set(rows.map(i => targets[i]))] };
  }

  // The rows as a slice of a place, which one class has, or all rows; null: they lie in no place together.
  async function placed({ rows, classes }, m) {
    const of = k => what.places.findIndex(p => p.model === m && p.class === k);
    const k = classes.length === 1 && of(classes[0]) >= 0 ? of(classes[0]) : of(-1);
    if (k < 0) return null;
    const p = await Data.place(k), at = new Map(Array.from(p.row, (r, i) => [r, i]));
    const member = rows.filter(r => at.has(r)).map(r => at.get(r)).sort((a, b) => a - b);
    return member.length === rows.length ? { place: k, member: Int32Array.from(member) } : null;
  }

  // An entry of the list that has these attributes, in these classes.
  const listed = (rule, m) => (what.models[m].entries || []).find(e => e.rule && e.rule.length === rule.items.length &&
    e.rule.every(t => rule.items.includes(names.indexOf(t))) && rule.cls === (e.class_number ?? -1));

  // ---- the answer ----

  const hint = (...t) => h("p", { class: "hint" }, ...t);

  function refusal(rule) {
    if (rule.twice) return hint("A row has one class: give one, or none.");
    if (rule.several !== undefined)
      return hint("Several attributes or classes are called ", h("bdi", {}, `“${rule.several}”`),
                  " but for capital letters: write one as the list has it.");
    if (/^[^<>=]+(<=?|>=?|=)\s*[-+.\d][-+.\deE]*$/.test(rule.unknown))
      return hint("This page holds only thirds of numbers. The command compares them, where it has their table: ",
                  h("code", {}, "spotter claim FOUND 'RULE' --attributes TABLE.csv"));
    return hint("There is no attribute and no class ", h("bdi", {}, `“${rule.unknown}”`), ".");
  }

  const isOwn = (e, c) => e.rule_rows === c.rows.length && e.rule_wrong === c.wrong && e.size === e.rule_rows;

  // Which of the rows judged an entry: those that the search had not seen when it found it.
  function entryLine(e, c, m) {
    const own = isOwn(e, c);
    const link = h("a", { href: `#${Claim.numbered(m, e.number).address}` }, `Entry #${e.number} of the list`);
    if (!own || e.claim === "not tested") return h("p", {}, link, own ? " is this rule." : " has these attributes and other rows.");
    const found = e.size - e.judged;
    return h("p", {}, link, ` is this rule, ${e.claim}: `, h("b", {}, `${count(e.judged_wrong)} of ${count(e.judged)}`),
             " rows that judged it are wrong", ...found ? [", and ", h("b", {}, `${count(e.wrong - e.judged_wrong)} of ` +
             count(found)), " of those that only found it"] : [], ".");
  }

  function test(rule, above, sure) {
    if (rule.items.length && !above) return hint("It fails no more often than its class: nothing to claim.");
    if (!rule.items.length) return hint("A class alone is no claim, which compares rows with their class: add an attribute.");
    if (sure) return hint("The rows that judged it had no part in finding it. With findings on new rows in NEW: ",
                          h("code", {}, `spotter claim NEW ${quoted(said(rule))} --new`));
    const seen = Claim.tested ? "These rows are of both halves, that which was searched and that which judges, and they were " +
      "seen before the rule was chosen" : "These rows were seen before the rule was chosen";
    return hint(h("span", { class: "claim suggested" }, "suggested"), ` ${seen}, so this is no proof. The test: `,
      h("code", {}, `spotter claim FOUND ${quoted(said(rule))}`), ", where FOUND is the folder of these findings.",
      rule.items.length > 2 ? " It confirms rules of one or two attributes; one of more needs new rows." : "");
  }

  async function ask(text, m) {
    const rule = parse(text);
    [typed, of] = [text, m];
    if (!rule.items) return answer.replaceChildren(refusal(rule));
    if (!rule.items.length && rule.cls < 0) return answer.replaceChildren();
    const c = counted(rule, m), rate = c.wrong / c.rows.length, base = c.expected / c.rows.length, same = listed(rule, m);
    if (!c.rows.length) return answer.replaceChildren(hint("No row has all of this."));
    const at = await placed(c, m);
    if (typed !== text || of !== m) return;            // another question came meanwhile
    answer.replaceChildren(h("p", {}, h("b", {}, `${count(c.wrong)} of ${count(c.rows.length)}`), " rows wrong, ",
        h("b", {}, percent(rate)), ` (their class${c.classes.length > 1 ? "es" : ""}: ${percent(base)}): ` +
        `${Card.points(rate - base)} points.`),
      ...[same ? entryLine(same, c, m) : null, test(rule, rate > base, same && isOwn(same, c) && same.claim === "confirmed"),
      at ? h("p", { class: "row" }, List.button("Show these rows", () => List.addOwn(at.member, at.place, said(rule)))) : null]
        .filter(Boolean));
  }

  function draw(m) {
    if (!what.attributes || what.models[m].several) return [];
    const field = h("input", { id: "rule", class: "name", size: 34, value: typed, autocomplete: "off", spellcheck: "false",
                               "aria-label": "attributes, and a class, with & between them" });
    const add = t => { field.value = field.value.trim() ? `${field.value.replace(/\s*&?\s*$/, "")} & ${t}` : t; field.focus(); };
    const form = h("form", { class: "bar", onsubmit: e => { e.preventDefault(); ask(field.value, m); } }, field,
                   h("button", { class: "small", type: "submit" }, "Count"));
    if (of >= 0 && of !== m) ask(typed, m);            // the answer is of the model that is shown
    return [h("section", { id: "own-rule", "aria-labelledby": "rule-title" },
      h("h2", { id: "rule-title" }, "A rule of your own"),
      h("p", { class: "key-line" }, "Attributes, and a class if you like, with & between them.",
        [...names, ...what.classes].some(t => t.includes("&")) ? " A name that has & stands between double quotes." : null), form,
      h("details", {}, h("summary", {}, plural(names.length, "attribute")), h("p", { class: "row items" },
        ...names.slice(0, MOST).map(t => List.button(t, () => add(spelt(t))))), names.length > MOST
        ? h("p", { class: "key-line" }, `and ${count(names.length - MOST)} more, which can be typed`) : null), answer)];
  }

  // Whether it is a term of a column of text, by the attribute that says so.
  const isTerm = word => names.some(n => n.endsWith(` has ${word}`));

  return { load, draw, ask, parse, said, isTerm };
})();
