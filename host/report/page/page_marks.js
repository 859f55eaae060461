// page_marks.js - what points look like: how much of each pixel around one is covered, as [dx, dy, 0..256].

const Mark = (() => {
  function disc(r) {
    const out = [], m = Math.ceil(r);
    for (let y = -m; y <= m; y++)
      for (let x = -m; x <= m; x++) {
        const a = Math.min(1, Math.max(0, r + 0.5 - Math.hypot(x, y)));
        if (a > 0.05) out.push([x, y, Math.round(256 * a)]);
      }
    return out;
  }

  function cross(r, w) {
    const out = [], m = Math.ceil(r);
    for (let y = -m; y <= m; y++)
      for (let x = -m; x <= m; x++) {
        const d = Math.abs(Math.abs(x) - Math.abs(y)) / Math.SQRT2, end = Math.max(Math.abs(x), Math.abs(y)) - r;
        const a = Math.min(1, Math.max(0, w / 2 + 0.5 - d)) * Math.min(1, Math.max(0, 1 - end));
        if (a > 0.05) out.push([x, y, Math.round(256 * a)]);
      }
    return out;
  }

  function box(r) {
    const out = [];
    for (let y = -r; y <= r; y++)
      for (let x = -r; x <= r; x++) if (Math.max(Math.abs(x), Math.abs(y)) === r) out.push([x, y, 256]);
    return out;
  }

  return { disc, cross, box };
})();
