// page_quantity.js - numbers of a study as its description says (what.columns and the like, by spot_quantities_describe): the
// study's own JSON has the values, a description the title, the sentence and the unit.

const known = v => v !== null && v !== undefined;
const p1 = v => known(v) ? (100 * v).toFixed(1).replace("-0.0", "0.0").replace("-", "−") : "–";
const one = (v, digits) => known(v) ? v.toFixed(digits).replace("-", "−") : "–";
const name = text => h("bdi", {}, text);

const Quantity = (() => {
  const shares = new Set(["share", "points"]);
  const text = (q, v) => !known(v) ? "–" : shares.has(q.unit) ? p1(v) : q.unit === "count" ? count(v) : one(v, q.digits ?? 3);

  // JSON has one of these for a row: a number, an interval, an average or a text. A name with dots lies in nested objects.
  const of = (row, q) => q.name in row ? row[q.name] : q.name.split(".").reduce((v, k) => known(v) ? v[k] : v, row);
  const value = (row, q) => { const v = of(row, q); return known(v) && typeof v === "object" ? v.mean ?? v.value : v; };

  const between = (q, v) => known(v) && known(v.low) ? `${text(q, v.low)} to ${text(q, v.high)}` : "";

  function cell(row, q) {
    const v = of(row, q), small = between(q, v), error = v?.n ? ` (${known(v.se) ? text(q, v.se) : "-"})` : "";
    return h("td", { class: "number" }, text(q, value(row, q)) + error, small ? h("small", {}, h("br"), small) : null);
  }

  // Columns of a sortable table: those that some row has. The first text heads a row unless it has a head already.
  function columns(described, rows, heads = 0) {
    return described.filter(q => rows.some(r => known(value(r, q)))).map(q => {
      const tag = q.unit !== "text" ? null : heads++ ? "td" : "th";
      return { name: q.title, id: q.name, number: !tag, key: r => value(r, q),
        about: q.about ? q.about + (shares.has(q.unit) ? q.unit === "points" ? ", percentage points" : ", %" : "") : null,
        cell: r => tag ? h(tag, tag === "th" ? { scope: "row" } : {}, name(value(r, q))) : cell(r, q) };
    });
  }

  return { of, value, text, between, columns };
})();
