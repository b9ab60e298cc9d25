// JSON values of runs, votes and differences as elements: what several views show.

import { ask, of } from './api.js';
import { button, fill, h } from './dom.js';
import { lines, marked } from './diff.js';
import { block, brief, count, dollars, inked, line, pretty, thousands } from './text.js';

/** @typedef {import('./types.js').Voting} Voting */
/** @typedef {import('./types.js').Ref} Ref */

/**
 * refOf is the reference that a value is, if it is kept beside the log.
 *
 * @param {unknown} value
 * @returns {Ref | null}
 */
export function refOf(value) {
  const ref = /** @type {any} */ (value);
  return ref && typeof ref === 'object' && typeof ref.$sha256 === 'string' ? ref : null;
}

/**
 * plain is a value without the frame of one that looks like a reference.
 *
 * @param {unknown} value
 */
export function plain(value) {
  const v = /** @type {any} */ (value);
  return v && typeof v === 'object' && '$value' in v ? v.$value : value;
}

/**
 * value shows a JSON value. One that is kept beside the log is fetched when it is asked for.
 *
 * @param {string} run
 * @param {unknown} v
 * @param {string} label
 */
export function value(run, v, label) {
  const ref = refOf(v);
  if (!ref) return block(pretty(plain(v)), { label });
  const box = h('div', { class: 'clipped' });
  const load = button(`Load ${thousands(ref.bytes)} bytes`, async () => {
    load.disabled = true;
    try {
      fill(box, block(pretty(await ask('GET', of(run, 'values', ref.$sha256))), { label }));
    } catch (err) {
      fill(box, problem(err), load);
      load.disabled = false;
    }
  });
  load.className = 'more';
  return fill(box, load);
}

/**
 * glance is a value on one line.
 *
 * @param {unknown} v
 * @param {number} [most]
 */
export function glance(v, most = 120) {
  const ref = refOf(v);
  return ref ? `${thousands(ref.bytes)} bytes` : brief(plain(v), most);
}

/**
 * problem says what went wrong.
 *
 * @param {unknown} err
 */
export function problem(err) {
  const words = err instanceof Error ? err.message : String(err);
  const field = /** @type {any} */ (err)?.field;
  return h('p', { class: 'problem', role: 'alert' }, field ? h('b', null, `${line(field, 60)}: `) : '', ...inked(words.slice(0, 2000)));
}

const mostRows = 400;

/**
 * difference shows what is in b and not in a, and the other way round.
 *
 * @param {string} a
 * @param {string} b
 * @param {string} label
 */
export function difference(a, b, label) {
  const most = 200_000;
  if (a.length + b.length > most) return h('div', { class: 'pair' }, block(a, { label: 'first' }), block(b, { label: 'second' }));
  return diffRows(lines(a, b), label);
}

/**
 * patch shows the change of a file as the server tells it.
 *
 * @param {string} text
 * @param {string} label
 */
export function patch(text, label) {
  return diffRows(marked(text), label);
}

/**
 * @param {import('./diff.js').Row[]} rows
 * @param {string} label
 */
function diffRows(rows, label) {
  const signs = { same: ' ', add: '+', del: '−', gap: '⋯' };
  const names = { same: '', add: 'added: ', del: 'removed: ', gap: '' };
  const body = h('div', { class: 'diff', role: 'region', tabindex: '0', 'aria-label': label });
  const more = button('', () => grow());
  more.className = 'more';
  const box = h('div', { class: 'clipped' }, body);
  let shown = 0;
  function grow() {
    for (const r of rows.slice(shown, shown + mostRows)) {
      const whole = r.parts.every((p) => p.kind !== 'same'); // then no part of it stands out
      const text = r.parts.map((p) => (p.kind === 'same' || whole ? inked(clip(p.text)) : [h(p.kind === 'add' ? 'ins' : 'del', null, inked(clip(p.text)))])).flat();
      body.append(h('div', { class: `row ${r.kind}` }, h('span', { class: 'sign', 'aria-hidden': 'true' }, signs[r.kind]), h('span', { class: 'unseen' }, names[r.kind]), h('code', null, text)));
    }
    shown += mostRows;
    more.textContent = `Show more (${count(rows.length - shown, 'line')} left)`;
    if (shown >= rows.length) more.remove();
    else if (!more.isConnected) box.append(more);
  }
  grow();
  return box;
}

/** @param {string} text */
function clip(text) {
  return text.length > 10_000 ? text.slice(0, 10_000) + `… (${thousands(text.length - 10_000)} more characters)` : text;
}

/**
 * split gives the votes of the answers from most to least, such as 5-2-1.
 *
 * @param {Voting | undefined | null} v
 */
export function split(v) {
  const counts = Object.values(v?.votes ?? {}).sort((a, b) => b - a);
  return counts.join('–') || 'none';
}

const mostBoxes = 18;

/**
 * boxes are how many boxes of a bar each count gets: as many as it is, or of many votes its
 * share, and never none.
 *
 * @param {number[]} counts
 */
export function boxes(counts) {
  const all = counts.reduce((a, b) => a + b, 0);
  return all <= mostBoxes ? counts : counts.map((n) => (n === 0 ? 0 : Math.max(1, Math.round((n * mostBoxes) / all))));
}

/**
 * ballot draws votes as a bar of boxes, those of each answer in a colour of its own, and what
 * was discarded as empty ones.
 *
 * @param {Voting | undefined | null} v
 */
export function ballot(v) {
  const counts = Object.values(v?.votes ?? {}).sort((a, b) => b - a).slice(0, 8);
  const bar = h('span', { class: 'ballot', 'aria-hidden': 'true' });
  boxes([...counts, v?.red_flagged ?? 0]).forEach((n, i) => {
    for (let j = 0; j < n; j++) bar.append(h('i', { class: i === counts.length ? 'vote-flag' : `vote-${Math.min(i, 3)}` }));
  });
  return h('span', { class: 'votes num', title: votingWords(v) }, bar, split(v));
}

/** @param {Voting | undefined | null} v */
export function votingWords(v) {
  if (!v) return 'no vote';
  const parts = [`votes ${split(v)}`, `margin ${v.margin}`, count(v.samples, 'sample')];
  if (v.red_flagged) parts.push(count(v.red_flagged, 'discarded answer'));
  if (v.faults) parts.push(count(v.faults, 'fault'));
  return parts.join(', ');
}

/**
 * facts are names and what belongs to them, those without anything left out.
 *
 * @param {[string, import('./dom.js').Child | import('./dom.js').Child[]][]} list
 */
export function facts(list) {
  const dl = h('dl', { class: 'facts' });
  for (const [name, what] of list) {
    if (what === null || what === undefined || what === '' || what === false) continue;
    dl.append(h('div', null, h('dt', null, name), h('dd', null, what)));
  }
  return dl;
}

/**
 * @param {import('./types.js').Rule | undefined | null} r
 */
export function ruleWords(r) {
  switch (r?.strategy) {
    case 'first_to_k':
      return `first to lead by ${r.k}`;
    case 'majority':
      return `majority of ${r.n}`;
    case 'adaptive':
      return `adaptive, error ${r.target_error ?? ''}`;
    case 'none':
      return 'one sample';
  }
  return r?.strategy ?? '';
}

/** @param {number | null | undefined} usd */
export const cost = (usd) => h('span', { class: 'num' }, dollars(usd));
