// A layered drawing of steps and what they need.

import { s } from './dom.js';
import { line } from './text.js';

/** @typedef {{id: string, step?: number | null, title: string, state: string, parent?: string, needs?: string[] | null, next?: string[] | null, note?: string}} ShapeNode */
/** @typedef {{id: string, x: number, y: number}} Spot */
/** @typedef {[string, string, 'needs' | 'next']} Edge from, to and why */
/** @typedef {{spots: Map<string, Spot>, edges: Edge[], width: number, height: number}} Layout */

const box = { width: 176, height: 44, across: 24, down: 40 };

/**
 * layout gives each node a place: one layer below all that it needs or comes after, and within
 * a layer about below these. What is not there, or goes in a circle, is passed over.
 *
 * @param {ShapeNode[]} nodes
 * @returns {Layout}
 */
export function layout(nodes) {
  const byID = new Map(nodes.map((n) => [n.id, n]));
  /** @type {Map<string, number>} */
  const depth = new Map();
  const under = new Set(); // on the way to a node: a circle comes back to one of these
  /** @type {Edge[]} */
  const edges = [];
  /** @type {Map<string, string[]>} */
  const after = new Map(); // what each comes after
  for (const n of nodes) for (const id of n.next ?? []) after.set(id, [...(after.get(id) ?? []), n.id]);
  /** @param {ShapeNode} n */
  function place(n) {
    const known = depth.get(n.id);
    if (known !== undefined) return known;
    under.add(n.id);
    let layer = 0;
    for (const id of new Set([...(n.needs ?? []), ...(after.get(n.id) ?? [])])) {
      const need = byID.get(id);
      if (!need || under.has(id)) continue;
      edges.push([id, n.id, n.needs?.includes(id) ? 'needs' : 'next']);
      layer = Math.max(layer, place(need) + 1);
    }
    under.delete(n.id);
    depth.set(n.id, layer);
    return layer;
  }
  nodes.forEach(place);
  /** @type {string[][]} */
  const layers = [];
  for (const n of nodes) (layers[depth.get(n.id) ?? 0] ??= []).push(n.id);

  /** @type {Map<string, number>} */
  const at = new Map();
  layers.forEach((ids) => ids.forEach((id, i) => at.set(id, i)));
  for (let pass = 0; pass < 4; pass++) {
    for (const ids of pass % 2 === 0 ? layers : [...layers].reverse()) {
      const middle = new Map(ids.map((id) => [id, centre(id, edges, at, pass % 2 === 0)]));
      ids.sort((a, b) => (middle.get(a) ?? 0) - (middle.get(b) ?? 0));
      ids.forEach((id, i) => at.set(id, i));
    }
  }
  const most = Math.max(1, ...layers.map((ids) => ids.length));
  const width = most * (box.width + box.across) - box.across;
  /** @type {Map<string, Spot>} */
  const spots = new Map();
  layers.forEach((ids, row) => {
    const shift = (width - (ids.length * (box.width + box.across) - box.across)) / 2;
    ids.forEach((id, i) => spots.set(id, { id, x: shift + i * (box.width + box.across), y: row * (box.height + box.down) }));
  });
  return { spots, edges, width, height: Math.max(0, layers.length * (box.height + box.down) - box.down) };
}

/**
 * centre is where the neighbours of a node are on average.
 *
 * @param {string} id
 * @param {Edge[]} edges
 * @param {Map<string, number>} at
 * @param {boolean} up neighbours that it needs, or that need it
 */
function centre(id, edges, at, up) {
  const near = edges.filter(([a, b]) => (up ? b : a) === id).map(([a, b]) => at.get(up ? a : b) ?? 0);
  return near.length === 0 ? (at.get(id) ?? 0) : near.reduce((a, b) => a + b, 0) / near.length;
}

/**
 * graph draws nodes with what they need.
 *
 * @param {ShapeNode[]} nodes
 * @param {(n: ShapeNode) => string | null} href
 */
export function graph(nodes, href) {
  const l = layout(nodes);
  const titles = new Map(nodes.map((n) => [n.id, line(n.title || n.id, 60)]));
  const pad = 2;
  const svg = s('svg', { class: 'graph', role: 'group', 'aria-label': 'Plan', width: l.width + 2 * pad, height: l.height + 2 * pad, viewBox: `${-pad} ${-pad} ${l.width + 2 * pad} ${l.height + 2 * pad}` });
  for (const [from, to, why] of l.edges) {
    const a = /** @type {Spot} */ (l.spots.get(from));
    const b = /** @type {Spot} */ (l.spots.get(to));
    const [x1, y1, x2, y2] = [a.x + box.width / 2, a.y + box.height, b.x + box.width / 2, b.y];
    const bend = (y2 - y1) / 2;
    svg.append(s('path', { class: `edge ${why}`, d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2 - 5}` }), s('path', { class: 'tip', d: `M${x2 - 4} ${y2 - 7}L${x2} ${y2}L${x2 + 4} ${y2 - 7}Z` }));
  }
  for (const n of nodes) {
    const spot = l.spots.get(n.id);
    if (!spot) continue;
    const needs = (n.needs ?? []).map((id) => titles.get(id)).filter(Boolean);
    const to = href(n);
    const name = `${titles.get(n.id)}: ${n.state}${needs.length ? `, needs ${needs.join(', ')}` : ''}${n.note ? `. ${line(n.note, 120)}` : ''}`;
    svg.append(
      s(
        to ? 'a' : 'g',
        { class: `node node-${n.state}`, href: to, 'aria-label': name, transform: `translate(${spot.x} ${spot.y})` },
        s('title', null, name),
        s('rect', { width: box.width, height: box.height, rx: 6 }),
        s('rect', { class: 'edgebar', width: 4, height: box.height, rx: 2 }),
        s('text', { x: 14, y: 18 }, line(n.title || n.id, 23)),
        s('text', { class: 'sub', x: 14, y: 34 }, `${typeof n.step === 'number' ? n.step + ' · ' : ''}${n.state}`),
      ),
    );
  }
  return svg;
}
