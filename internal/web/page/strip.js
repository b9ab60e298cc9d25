// The heat strip: the margins of all steps of a run as a row of cells, however many steps
// there are. One zooms by a drag, a click, the wheel or the keyboard, down to single steps.

import { get, of } from './api.js';
import { button, fill, h, paced } from './dom.js';
import { count, thousands } from './text.js';

/** @typedef {import('./types.js').Strip} Strip */
/** @typedef {{from: number, to: number}} Range */

const tall = 56; // pixels of the strip
const low = 14; // pixels of the overview
const cellWidth = 3; // pixels of a cell, at least
const fewest = 12; // steps that one can zoom to

/**
 * heat is how hot a cell is, by the lowest share of the votes by which one of its steps was
 * won: from 0 (all voters agreed) to 4 (nearly a tie); -1 without steps. A margin alone does
 * not tell: a race to a lead of 3 is won by 3.
 *
 * @param {number} n steps of the cell that are done
 * @param {number} lead
 */
export function heat(n, lead) {
  if (n === 0) return -1;
  return [0.25, 0.4, 0.6, 1].reduce((hot, bound) => (lead < bound ? hot + 1 : hot), 0);
}

/**
 * spanOf is the first step of a cell and the first one behind it.
 *
 * @param {Strip} s
 * @param {number} i
 * @returns {Range}
 */
export function spanOf(s, i) {
  const span = s.to - s.from;
  const first = (/** @type {number} */ n) => s.from + Math.ceil((n * span) / s.count.length);
  return { from: first(i), to: first(i + 1) };
}

/**
 * words say what a cell is.
 *
 * @param {Strip} s
 * @param {number} i
 */
export function words(s, i) {
  const { from, to } = spanOf(s, i);
  const one = to - from === 1;
  const which = one ? `step ${thousands(from)}` : `steps ${thousands(from)} to ${thousands(to - 1)}`;
  if (!s.count[i]) return `${which}: nothing yet`;
  const parts = [`${one ? 'margin' : 'lowest margin'} ${s.margin[i]}`];
  const lead = s.lead[i] ?? 1;
  const contested = s.contested[i] ?? 0;
  const flagged = s.flagged[i] ?? 0;
  if (contested > 0) parts.push(one ? 'contested' : `${thousands(contested)} contested`, `won by ${Math.round(100 * lead)} % of the votes${one ? '' : ' at the closest'}`);
  else parts.push('all voters agreed');
  if (flagged > 0) parts.push(count(flagged, 'discarded answer'));
  return `${which}: ${parts.join(', ')}`;
}

/**
 * zoomed is a range with another width that has certain steps in it as a whole, about where they
 * were, within all steps.
 *
 * @param {Range} r
 * @param {number} total
 * @param {number} factor below 1 comes closer
 * @param {Range} keep the steps that stay; an empty range is a place between two
 * @returns {Range}
 */
export function zoomed(r, total, factor, keep) {
  const kept = keep.to - keep.from;
  const width = Math.min(total, Math.max(Math.min(fewest, total), kept, Math.round((r.to - r.from) * factor)));
  // As much of the room around them is on their left as before, so that what is at an edge stays there.
  const share = (keep.from - r.from) / Math.max(1, r.to - r.from - kept);
  const from = Math.min(Math.max(0, Math.round(keep.from - share * (width - kept))), total - width);
  return { from, to: from + width };
}

/**
 * cellOf is the cell for steps that were selected in another strip: the first contested one of
 * those that they are in now; -1 if they are not in the strip.
 *
 * @param {Strip} s
 * @param {Range} steps
 */
export function cellOf(s, steps) {
  const from = Math.max(steps.from, s.from);
  const to = Math.min(steps.to, s.to);
  if (from >= to) return -1;
  const cell = (/** @type {number} */ step) => Math.floor(((step - s.from) * s.count.length) / (s.to - s.from));
  const cells = Array.from({ length: cell(to - 1) - cell(from) + 1 }, (_, i) => cell(from) + i);
  const inside = cells.filter((i) => spanOf(s, i).from >= steps.from && spanOf(s, i).to <= steps.to);
  const contested = (/** @type {number} */ i) => (s.contested[i] ?? 0) > 0;
  return inside.find(contested) ?? cells.find(contested) ?? inside[0] ?? cell(from);
}

/**
 * moved is a range further on, within all steps.
 *
 * @param {Range} r
 * @param {number} total
 * @param {number} by
 * @returns {Range}
 */
export function moved(r, total, by) {
  const width = r.to - r.from;
  const from = Math.min(Math.max(0, r.from + by), Math.max(0, total - width));
  return { from, to: from + width };
}

/**
 * strip is the element, for as long as it is not closed.
 *
 * @param {string} run
 * @param {{open: (step: number) => void, zoom: (range: Range | null) => void}} o
 */
export function strip(run, o) {
  /** @type {Strip | null} */
  let whole = null;
  /** @type {Strip | null} */
  let part = null;
  /** @type {Range | null} */
  let range = null;
  let selected = -1;
  let cursor = -1; // the cell that the keyboard or the pointer is at
  /** @type {Range | null} */
  let held = null; // its steps, which stay selected when cells are others
  /** @type {{from: number, to: number} | null} */
  let drag = null;

  const legend = h('ul', { class: 'legend', 'aria-hidden': 'true' });
  const names = ['all agreed', 'contested', 'close', 'very close', 'nearly a tie'];
  const swatches = names.map((name, i) => {
    const dot = h('span', { class: `swatch heat-${i}` });
    legend.append(h('li', null, dot, name));
    return dot;
  });
  const flagDot = h('span', { class: 'swatch heat-flag' });
  const emptyDot = h('span', { class: 'swatch heat-none' });
  legend.append(h('li', null, flagDot, 'discarded answers'), h('li', null, emptyDot, 'nothing yet'));

  const overview = h('canvas', { class: 'overview', 'aria-hidden': 'true' });
  const canvas = h('canvas', { class: 'cells', 'aria-hidden': 'true' });
  const says = h('p', { class: 'says', role: 'status', 'aria-live': 'polite' });
  const field = h('div', { class: 'field', tabindex: '0', role: 'application', 'aria-roledescription': 'heat strip' }, overview, canvas);
  const where = h('span', { class: 'where num' });
  const tools = h(
    'div',
    { class: 'tools' },
    where,
    button('−', () => zoom(2), { title: 'Zoom out (-)', 'aria-label': 'Zoom out' }),
    button('+', () => zoom(0.5), { title: 'Zoom in (+)', 'aria-label': 'Zoom in' }),
    button('All', () => show(null), { title: 'All steps (0)', 'aria-label': 'Show all steps' }),
  );
  const el = h('section', { class: 'strip card', 'aria-label': 'Margins of all steps' }, h('div', { class: 'bar' }, h('h2', null, 'Margins'), says, tools), field, legend);

  const shown = () => part ?? whole;
  /** @type {() => void} */
  let tellDrawn = () => {};
  /** @type {Promise<void>} */
  const drawn = new Promise((resolve) => (tellDrawn = resolve));
  const load = paced(150, async () => {
    const width = Math.max(20, Math.floor((field.clientWidth || 600) / cellWidth));
    try {
      [whole, part] = await Promise.all([get(of(run, 'strip'), { width }), range && get(of(run, 'strip'), { from: range.from, to: range.to, width })]);
    } catch (err) {
      says.textContent = err instanceof Error ? err.message : String(err);
      tellDrawn();
      return;
    }
    const s = shown();
    if (s && held && !drag) cursor = cellOf(s, held);
    tell();
    draw();
    performance.mark('strip'); // for who measures how long it takes
    tellDrawn();
  });

  const end = () => whole?.to ?? 0;
  /** @param {Range | null} to */
  function show(to) {
    o.zoom(to && to.to - to.from < end() ? to : null);
  }
  /** @param {number} factor */
  function zoom(factor) {
    const s = shown();
    if (!s) return;
    const middle = (s.from + s.to) / 2;
    show(zoomed(s, end(), factor, cursor >= 0 ? spanOf(s, cursor) : { from: middle, to: middle }));
  }
  /** @param {MouseEvent} e */
  function cellAt(e) {
    const s = shown();
    if (!s) return -1;
    const box = canvas.getBoundingClientRect();
    return Math.min(s.count.length - 1, Math.max(0, Math.floor(((e.clientX - box.left) / box.width) * s.count.length)));
  }
  /** @param {number} i */
  function enter(i) {
    const s = shown();
    if (!s || i < 0) return;
    const cell = spanOf(s, i);
    if (cell.to - cell.from > 1) show(zoomed(s, end(), 1 / 16, cell));
    else if (s.count[i]) o.open(cell.from);
  }
  function tell() {
    const s = shown();
    if (!s) return;
    const text = cursor >= 0 ? words(s, cursor) : '';
    if (says.textContent !== text) says.textContent = text; // what is said again is read out again
  }
  /** hold notes which steps are selected, once a person has moved. */
  function hold() {
    const s = shown();
    held = s && cursor >= 0 ? spanOf(s, cursor) : null;
  }

  canvas.addEventListener('pointermove', (e) => {
    cursor = cellAt(e);
    hold();
    if (drag) drag.to = cursor;
    tell();
    draw();
  });
  canvas.addEventListener('pointerleave', () => {
    if (drag) return;
    cursor = -1;
    hold();
    tell();
    draw();
  });
  canvas.addEventListener('pointerdown', (e) => {
    const i = cellAt(e);
    drag = { from: i, to: i };
    canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener('pointerup', () => {
    const s = shown();
    if (!drag || !s) return;
    const [a, b] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
    drag = null;
    if (b - a < 2) enter(a);
    else {
      const dragged = { from: spanOf(s, a).from, to: spanOf(s, b).to };
      show(zoomed(dragged, end(), 1, dragged));
    }
  });
  canvas.addEventListener('pointercancel', () => {
    drag = null;
  });
  overview.addEventListener('pointerdown', (e) => {
    const s = shown();
    if (!s || !whole) return;
    const box = overview.getBoundingClientRect();
    const at = Math.round(((e.clientX - box.left) / box.width) * end());
    show(moved(s, end(), at - Math.round((s.from + s.to) / 2)));
  });
  field.addEventListener('keydown', (e) => {
    const s = shown();
    if (!s || e.ctrlKey || e.metaKey || e.altKey) return;
    const last = s.count.length - 1;
    const page = Math.max(1, Math.round(s.count.length / 10));
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowRight: () => (cursor === last ? show(moved(s, end(), Math.round((s.to - s.from) / 10))) : (cursor += 1)),
      ArrowLeft: () => (cursor === 0 ? show(moved(s, end(), -Math.round((s.to - s.from) / 10))) : (cursor = Math.max(0, cursor - 1))),
      PageDown: () => (cursor = Math.min(last, cursor + page)),
      PageUp: () => (cursor = Math.max(0, cursor - page)),
      Home: () => (cursor = 0),
      End: () => (cursor = last),
      n: () => (cursor = next(s, cursor, 1)),
      p: () => (cursor = next(s, cursor, -1)),
      '+': () => zoom(0.5),
      '=': () => zoom(0.5),
      '-': () => zoom(2),
      0: () => show(null),
      Enter: () => enter(cursor),
    };
    const act = keys[e.key];
    if (!act) return;
    e.preventDefault();
    e.stopPropagation();
    act();
    hold();
    tell();
    draw();
  });

  function draw() {
    const s = shown();
    if (!s || !whole) return;
    el.hidden = s.to === 0;
    if (cursor >= s.count.length) cursor = -1;
    const colors = swatches.map((d) => getComputedStyle(d).backgroundColor);
    const paint = { colors, flag: getComputedStyle(flagDot).backgroundColor, none: getComputedStyle(emptyDot).backgroundColor, ink: getComputedStyle(field).color };
    cells(canvas, s, tall, paint);
    const g = canvas.getContext('2d');
    const w = canvas.clientWidth / s.count.length;
    if (g) {
      g.strokeStyle = g.fillStyle = paint.ink;
      const mark = Math.floor(((selected - s.from) * s.count.length) / (s.to - s.from));
      if (selected >= s.from && mark < s.count.length) frame(g, mark * w, w, tall, 2);
      if (cursor >= 0) frame(g, cursor * w, w, tall, 1);
      if (drag && drag.to !== drag.from) {
        g.globalAlpha = 0.2;
        g.fillRect(Math.min(drag.from, drag.to) * w, 0, (Math.abs(drag.to - drag.from) + 1) * w, tall);
        g.globalAlpha = 1;
      }
    }
    overview.hidden = !part;
    if (part) {
      cells(overview, whole, low, paint);
      const o = overview.getContext('2d');
      const scale = overview.clientWidth / Math.max(1, end());
      if (o) {
        o.strokeStyle = paint.ink;
        o.lineWidth = 1.5;
        o.strokeRect(part.from * scale + 0.5, 0.75, Math.max(3, (part.to - part.from) * scale), low - 1.5);
      }
    }
    fill(where, part ? `${thousands(s.from)} – ${thousands(s.to - 1)} of ${thousands(end())}` : count(s.steps, 'step'));
    const contested = s.contested.reduce((a, b) => a + b, 0);
    field.setAttribute(
      'aria-label',
      `Margins of steps ${thousands(s.from)} to ${thousands(s.to - 1)} of ${thousands(end())}: ${thousands(s.steps)} done, ${thousands(contested)} contested. ` +
        'Arrow keys move, n and p find contested ones, plus and minus zoom, Enter comes closer or opens a step. The list of closest calls below has the same.',
    );
  }

  const observer = new ResizeObserver(() => load.ask());
  observer.observe(field);
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', draw);
  document.addEventListener('theme', draw);

  return {
    el,
    drawn,
    reload: load.ask,
    /** @param {{range: Range | null, selected: number}} state */
    update(state) {
      const other = JSON.stringify(state.range) !== JSON.stringify(range);
      selected = state.selected;
      if (other) {
        range = state.range;
        load.ask();
      } else {
        draw();
      }
    },
    close() {
      tellDrawn();
      load.stop();
      observer.disconnect();
      scheme.removeEventListener('change', draw);
      document.removeEventListener('theme', draw);
    },
  };
}

/**
 * next is the next contested cell, or the same one if there is none.
 *
 * @param {Strip} s
 * @param {number} from
 * @param {1 | -1} by
 */
function next(s, from, by) {
  for (let i = from + by; i >= 0 && i < s.count.length; i += by) {
    if ((s.contested[i] ?? 0) > 0) return i;
  }
  return from;
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {number} x
 * @param {number} w
 * @param {number} height
 * @param {number} line
 */
function frame(g, x, w, height, line) {
  g.lineWidth = line;
  g.strokeRect(x - 0.5, line / 2, Math.max(w, 3) + 1, height - line);
}

/**
 * cells draws a strip.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {Strip} s
 * @param {number} height
 * @param {{colors: string[], flag: string, none: string}} paint
 */
function cells(canvas, s, height, paint) {
  const width = canvas.parentElement?.clientWidth ?? 600;
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = canvas.getContext('2d');
  if (!g) return;
  g.scale(ratio, ratio);
  const w = width / s.count.length;
  const gap = w >= 8 ? 1 : 0;
  const tick = height > 30 ? 5 : 0;
  const floor = tick ? height - tick - 2 : height;
  const base = tick ? Math.round(floor * 0.4) : 0; // where cells begin that all agreed on
  const most = (/** @type {number[]} */ list) => Math.max(1e-9, ...list.map((n, i) => n / Math.max(1, s.count[i] ?? 0)));
  const [mostContested, mostFlagged] = [most(s.contested), most(s.flagged)];
  for (let i = 0; i < s.count.length; i++) {
    const n = s.count[i] ?? 0;
    const lead = s.lead[i] ?? 1;
    const hot = heat(n, lead);
    const x = gap ? i * w : Math.floor(i * w);
    const across = (gap ? (i + 1) * w - gap : Math.ceil((i + 1) * w)) - x;
    g.fillStyle = hot < 0 ? paint.none : (paint.colors[0] ?? paint.none);
    g.fillRect(x, base, across, floor - base);
    if (hot > 0) {
      // Closer calls are taller too, so that colour is not all that tells them apart. Of a
      // cell that is merely contested it is seen how much of it is.
      g.fillStyle = paint.colors[hot] ?? paint.none;
      const top = tick ? Math.round(base * lead * (hot === 1 ? 1 : 0.8)) : 0;
      g.globalAlpha = hot > 1 ? 1 : 0.25 + 0.75 * Math.sqrt((s.contested[i] ?? 0) / n / mostContested);
      g.fillRect(x, top, across, floor - top);
      g.globalAlpha = 1;
    }
    if (tick && (s.flagged[i] ?? 0) > 0) {
      g.fillStyle = paint.flag;
      g.globalAlpha = 0.2 + 0.8 * ((s.flagged[i] ?? 0) / n / mostFlagged);
      g.fillRect(x, height - tick, across, tick);
      g.globalAlpha = 1;
    }
  }
}
