// What two texts do not have in common: lines that were replaced, and words within them.

/** @typedef {{kind: 'same' | 'del' | 'add', text: string}} Part */
/** @typedef {{kind: 'same' | 'del' | 'add' | 'gap', parts: Part[]}} Row */

// Comparing takes memory by the product of the lengths: what is longer is compared coarsely.
const mostCells = 4_000_000;

/**
 * diff is the shortest way from a list to another one, by their longest common subsequence.
 * Lists that are too long for that are taken to have only their ends in common.
 *
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Part[]} an element of the lists each
 */
export function diff(a, b) {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const midA = a.slice(head, a.length - tail);
  const midB = b.slice(head, b.length - tail);
  return [
    ...as('same', a.slice(0, head)),
    ...(midA.length * midB.length > mostCells ? [...as('del', midA), ...as('add', midB)] : middle(midA, midB)),
    ...as('same', a.slice(a.length - tail)),
  ];
}

/**
 * @param {Part['kind']} kind
 * @param {string[]} list
 * @returns {Part[]}
 */
function as(kind, list) {
  return list.map((text) => ({ kind, text }));
}

/**
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Part[]}
 */
function middle(a, b) {
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width); // common to the rests from i and j on
  const at = (/** @type {number} */ i, /** @type {number} */ j) => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  /** @type {Part[]} */
  const parts = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      parts.push({ kind: 'same', text: /** @type {string} */ (a[i]) });
      i++;
      j++;
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) {
      parts.push({ kind: 'del', text: /** @type {string} */ (a[i++]) });
    } else {
      parts.push({ kind: 'add', text: /** @type {string} */ (b[j++]) });
    }
  }
  return parts;
}

/**
 * words compares two texts by words, numbers, blanks and signs. Neighbours of a kind are one
 * part.
 *
 * @param {string} a
 * @param {string} b
 * @returns {Part[]}
 */
export function words(a, b) {
  return joined(diff(tokens(a), tokens(b)));
}

/** @param {string} text */
function tokens(text) {
  return text.match(/[\p{L}\p{M}\p{N}_]+|\s+|[^]/gu) ?? [];
}

/**
 * @param {Part[]} parts
 * @returns {Part[]}
 */
function joined(parts) {
  /** @type {Part[]} */
  const out = [];
  for (const p of parts) {
    const last = out[out.length - 1];
    if (last && last.kind === p.kind) last.text += p.text;
    else out.push({ ...p });
  }
  return out;
}

/**
 * lines compares two texts by lines. Of what is the same a few lines are kept around changes.
 *
 * @param {string} a
 * @param {string} b
 * @param {number} [context] lines that are kept
 * @returns {Row[]}
 */
export function lines(a, b, context = 3) {
  return folded(rowsOf(diff(a.split('\n'), b.split('\n'))), context);
}

/**
 * rowsOf are lines that stay, go and come as rows. The first that goes is compared by words with
 * the first that comes in its place, and so on.
 *
 * @param {Part[]} parts
 * @returns {Row[]}
 */
function rowsOf(parts) {
  /** @type {Row[]} */
  const rows = [];
  for (let i = 0; i < parts.length; ) {
    const dels = run(parts, i, 'del');
    const adds = run(parts, i + dels.length, 'add');
    if (dels.length + adds.length === 0) {
      rows.push({ kind: 'same', parts: [/** @type {Part} */ (parts[i])] });
      i++;
      continue;
    }
    const paired = dels.slice(0, adds.length).map((d, n) => words(d.text, adds[n]?.text ?? ''));
    rows.push(...dels.map((d, n) => row('del', paired[n] ?? [d])), ...adds.map((d, n) => row('add', paired[n] ?? [d])));
    i += dels.length + adds.length;
  }
  return rows;
}

/**
 * @param {'del' | 'add'} kind
 * @param {Part[]} parts
 * @returns {Row}
 */
function row(kind, parts) {
  return { kind, parts: parts.filter((p) => p.kind === 'same' || p.kind === kind) };
}

/**
 * @param {Part[]} parts
 * @param {number} from
 * @param {Part['kind']} kind
 */
function run(parts, from, kind) {
  let to = from;
  while (parts[to]?.kind === kind) to++;
  return parts.slice(from, to);
}

/**
 * folded leaves out what is the same, but for some lines around changes.
 *
 * @param {Row[]} rows
 * @param {number} context
 * @returns {Row[]}
 */
function folded(rows, context) {
  const near = new Uint8Array(rows.length);
  rows.forEach((r, i) => {
    if (r.kind !== 'same') near.fill(1, Math.max(0, i - context), i + context + 1);
  });
  /** @type {Row[]} */
  const out = [];
  for (let i = 0; i < rows.length; ) {
    if (near[i]) {
      out.push(/** @type {Row} */ (rows[i++]));
      continue;
    }
    let n = 0;
    while (i < rows.length && !near[i]) {
      n++;
      i++;
    }
    out.push({ kind: 'gap', parts: [{ kind: 'same', text: `${n} ${n === 1 ? 'line' : 'lines'} the same` }] });
  }
  return out;
}

// How the server says that lines are left out.
const leftOut = /^ {2}\[… \d+ lines as they are …\]$/;

/**
 * marked reads the change of a file as the server tells it: a sign and a blank before each
 * line. What has none is a remark.
 *
 * @param {string} text
 * @returns {Row[]}
 */
export function marked(text) {
  /** @type {Row[]} */
  const rows = [];
  /** @type {Part[]} */
  let parts = [];
  for (const l of text.split('\n')) {
    if (/^[-+ ] /.test(l) && !leftOut.test(l)) {
      parts.push({ kind: l[0] === '-' ? 'del' : l[0] === '+' ? 'add' : 'same', text: l.slice(2) });
      continue;
    }
    rows.push(...rowsOf(parts), { kind: 'gap', parts: [{ kind: 'same', text: l.trim() }] });
    parts = [];
  }
  return [...rows, ...rowsOf(parts)];
}
