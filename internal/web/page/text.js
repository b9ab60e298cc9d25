// Text of others made safe and short enough to look at, and figures for people.

import { button, h } from './dom.js';

// What cannot be seen, or changes the order of what is: control characters, bidi controls,
// joiners, blank patterns, private characters, halves of pairs. New lines and tabs may stay.
const unseen = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u034f]/u;
const mark = /\p{M}/u;
const symbol = /\p{So}/u;

// So many marks may be put on one character. More of them cover the lines around it.
const mostMarks = 6;

/**
 * escaped is how a character is written that is not shown as it is.
 *
 * @param {string} char
 */
export function escaped(char) {
  const code = /** @type {number} */ (char.codePointAt(0));
  if (char === '\r') return '\\r';
  if (code < 0x80) return '\\x' + code.toString(16).padStart(2, '0');
  if (code > 0xffff) return '\\U' + code.toString(16).padStart(8, '0');
  return '\\u' + code.toString(16).padStart(4, '0');
}

/**
 * pieces divides a text into what is shown as it is and what is shown as escapes.
 *
 * @param {string} text
 * @returns {{text: string, escape: boolean}[]}
 */
export function pieces(text) {
  if (/^[\n\t\x20-\x7e]*$/.test(text)) return text === '' ? [] : [{ text, escape: false }];
  /** @type {{text: string, escape: boolean}[]} */
  const list = [];
  let marks = mostMarks; // a mark at the beginning would be put on what is before the text
  let last = '';
  for (const char of text) {
    marks = mark.test(char) ? marks + 1 : 0;
    const picture = char === '\ufe0f' && symbol.test(last); // shows a symbol as a picture
    const escape = marks > mostMarks || (unseen.test(char) && !picture);
    const piece = escape ? escaped(char) : char;
    const end = list[list.length - 1];
    if (end && end.escape === escape) end.text += piece;
    else list.push({ text: piece, escape });
    last = char;
  }
  return list;
}

/**
 * visible is a text in which everything can be seen.
 *
 * @param {string} text
 */
export function visible(text) {
  return pieces(text).map((p) => p.text).join('');
}

/**
 * line is a text on one line, its end left out if it is long.
 *
 * @param {string} text
 * @param {number} [most] characters
 */
export function line(text, most = 200) {
  const head = [...text.slice(0, 4 * most)];
  const cut = head.length > most || text.length > 4 * most;
  const short = head.slice(0, most).join('').replace(/[\s\u0085\u2028\u2029]+/g, ' ').trim();
  return visible(short) + (cut ? '…' : '');
}

/**
 * inked is a text as nodes, its escapes set apart from the same characters written out.
 *
 * @param {string} text
 * @returns {Node[]}
 */
export function inked(text) {
  return pieces(text).map((p) => (p.escape ? h('span', { class: 'escape', title: 'not a printable character' }, p.text) : document.createTextNode(p.text)));
}

const firstPart = 4000;

/**
 * block is a text of any size: its beginning, and a button for more of it.
 *
 * @param {string} text
 * @param {{label?: string, first?: number, plain?: boolean}} [o]
 */
export function block(text, o = {}) {
  const pre = h('pre', { class: 'block', tabindex: '0', role: 'region', 'aria-label': o.label ?? 'text' });
  const box = h('div', { class: 'clipped' }, pre);
  let shown = 0;
  let step = o.first ?? firstPart;
  const more = button('', () => grow());
  more.className = 'more';
  function grow() {
    let end = Math.min(text.length, shown + step);
    if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? '')) end++; // keep pairs together
    pre.append(...inked(text.slice(shown, end)));
    shown = end;
    step = 64_000;
    const left = text.length - shown;
    more.textContent = `Show more (${thousands(left)} of ${thousands(text.length)} characters left)`;
    if (left <= 0) more.remove();
    else if (!more.isConnected) box.append(more);
  }
  grow();
  return box;
}

const wide = 72; // characters of a list or object that stays on its line

/**
 * pretty is a JSON value for people: a text is itself, and what is short stays on one line.
 *
 * @param {unknown} value
 */
export function pretty(value) {
  if (typeof value === 'string') return value;
  if (value === undefined) return '';
  return laidOut(value, '');
}

/**
 * @param {unknown} value
 * @param {string} indent
 * @returns {string}
 */
function laidOut(value, indent) {
  const flat = JSON.stringify(value);
  if (value === null || typeof value !== 'object') return flat;
  const list = Array.isArray(value);
  const spaced = list && value.every((v) => v === null || typeof v !== 'object') ? `[${value.map((v) => JSON.stringify(v)).join(', ')}]` : flat;
  const scalars = Object.values(value).every((v) => v === null || typeof v !== 'object');
  if (Object.keys(value).length === 0 || ((list || scalars) && spaced.length + indent.length <= wide && (list || Object.keys(value).length === 1))) return spaced;
  const inner = indent + '  ';
  const parts = list ? value.map((v) => inner + laidOut(v, inner)) : Object.entries(value).map(([k, v]) => `${inner}${JSON.stringify(k)}: ${laidOut(v, inner)}`);
  return `${list ? '[' : '{'}\n${parts.join(',\n')}\n${indent}${list ? ']' : '}'}`;
}

/**
 * brief is a JSON value on one line.
 *
 * @param {unknown} value
 * @param {number} [most]
 */
export function brief(value, most = 120) {
  if (value === null || value === undefined) return '';
  return line(typeof value === 'string' ? value : JSON.stringify(value), most);
}

/** @param {number} n */
export function thousands(n) {
  return Number.isInteger(n) ? n.toString().replace(/\B(?=(\d{3})+$)/g, ',') : String(n);
}

/**
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
export function count(n, one, many) {
  return `${thousands(n)} ${n === 1 ? one : (many ?? one + 's')}`;
}

/**
 * dollars are unknown if they are null, never 0.
 *
 * @param {number | null | undefined} usd
 */
export function dollars(usd) {
  if (usd === null || usd === undefined) return 'unknown';
  if (usd === 0) return '$0';
  if (usd < 1e-6) return '< $0.000001';
  if (usd < 0.01) return '$' + usd.toFixed(Math.ceil(-Math.log10(usd)) + 1);
  const [whole = '0', cents = '00'] = usd.toFixed(usd < 10 ? 3 : 2).split('.');
  return `$${thousands(Number(whole))}.${cents}`;
}

/**
 * duration is about how long so many milliseconds are.
 *
 * @param {number} ms
 */
export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const sec = ms / 1000;
  if (sec < 10) return `${sec.toFixed(1)} s`;
  const whole = Math.round(sec);
  if (whole < 60) return `${whole} s`;
  const min = Math.floor(whole / 60);
  if (min < 60) return `${min} min ${whole % 60} s`;
  const hours = Math.floor(min / 60);
  if (hours < 48) return `${hours} h ${min % 60} min`;
  return `${Math.floor(hours / 24)} days ${hours % 24} h`;
}

/**
 * ago is how long ago a moment was.
 *
 * @param {string} time RFC 3339
 * @param {number} [now]
 */
export function ago(time, now = Date.now()) {
  const ms = now - Date.parse(time);
  if (!Number.isFinite(ms) || time.startsWith('0001')) return '';
  if (ms < 60_000) return 'now';
  const min = Math.floor(ms / 60_000);
  if (min < 60) return `${min} min ago`;
  if (min < 48 * 60) return `${Math.floor(min / 60)} h ago`;
  return `${Math.floor(min / 1440)} days ago`;
}

/**
 * moment is a time as an element that says it exactly when it is pointed at.
 *
 * @param {string} time
 */
export function moment(time) {
  const words = ago(time);
  return words === '' ? '' : h('time', { datetime: time, title: new Date(time).toLocaleString() }, words);
}

/**
 * percent is a share; one that is nearly all or nearly nothing is not rounded to it.
 *
 * @param {number} share
 */
export function percent(share) {
  if (share === 0 || share === 1) return `${share * 100} %`;
  const away = Math.min(share, 1 - share);
  if (away < 1e-9) return share < 0.5 ? '< 0.0000001 %' : '> 99.9999999 %';
  const digits = Math.max(1, Math.ceil(-Math.log10(away * 100) - 1e-6) + 1);
  return `${(share * 100).toFixed(digits)} %`;
}
