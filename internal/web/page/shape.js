// How the steps of a run hang together: a plan as a graph, a solve as a tree, an outline as
// a checklist.

import { get, of } from './api.js';
import { fill, h, paced } from './dom.js';
import { graph } from './graph.js';
import { link } from './router.js';
import { problem } from './value.js';
import { line } from './text.js';

/** @typedef {import('./graph.js').ShapeNode} ShapeNode */

const mostDrawn = 300; // nodes of a graph; more of them are a list

/** What the tab of a form is called; forms that are not here have no shape. */
export const shapeNames = /** @type {Record<string, string>} */ ({ plan: 'Plan', tree: 'Tree', tasks: 'Checklist', script: 'Steps made' });

/**
 * forest is the nodes that have no parent among them, and the children of each.
 *
 * @param {ShapeNode[]} nodes
 */
export function forest(nodes) {
  const known = new Set(nodes.map((n) => n.id));
  /** @type {Map<string, ShapeNode[]>} */
  const children = new Map();
  /** @type {ShapeNode[]} */
  const roots = [];
  for (const n of nodes) {
    if (n.parent && n.parent !== n.id && known.has(n.parent)) children.set(n.parent, [...(children.get(n.parent) ?? []), n]);
    else roots.push(n);
  }
  return { roots, children };
}

/**
 * @param {string} run
 */
export function shape(run) {
  const body = h('div', { class: 'shape' }, h('p', { class: 'muted' }, 'Loading…'));
  const el = h('section', { class: 'card', 'aria-label': 'Shape of the run' }, body);
  let known = '';
  const load = paced(1000, async () => {
    try {
      const said = await get(of(run, 'shape'));
      const text = JSON.stringify(said);
      if (text === known) return;
      known = text;
      draw(said.form, said.nodes ?? []);
    } catch (err) {
      fill(body, problem(err));
    }
  });
  /** @param {ShapeNode} n */
  const href = (n) => (typeof n.step === 'number' ? link(['runs', run, 'step', n.step]) : null);
  /** @param {ShapeNode} n */
  const label = (n) => {
    const name = line(n.title || n.id, 300);
    const to = href(n);
    return to ? h('a', { href: to }, name) : h('span', null, name);
  };
  /**
   * @param {string} form
   * @param {ShapeNode[]} nodes
   */
  function draw(form, nodes) {
    if (nodes.length === 0) return fill(body, h('p', { class: 'empty' }, 'There is nothing yet.'));
    if (form === 'plan' && nodes.length <= mostDrawn) return fill(body, h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Plan as a graph' }, graph(nodes, href)));
    if (form === 'tree') {
      const { roots, children } = forest(nodes);
      return fill(body, h('ul', { class: 'tree' }, roots.map((n) => branch(n, children, 0))));
    }
    return fill(
      body,
      h(
        'ol',
        { class: 'checklist' },
        nodes.map((n) => h('li', { class: `node-${n.state}` }, h('span', { class: 'check', role: 'img', 'aria-label': n.state }, n.state === 'completed' ? '✓' : n.state === 'failed' ? '✗' : n.state === 'running' ? '…' : ''), h('span', null, label(n), n.note ? h('span', { class: 'muted' }, ` ${line(n.note, 200)}`) : null), h('span', { class: 'muted' }, n.state))),
      ),
    );
  }
  /**
   * @param {ShapeNode} n
   * @param {Map<string, ShapeNode[]>} children
   * @param {number} depth
   * @returns {HTMLElement}
   */
  function branch(n, children, depth) {
    const below = children.get(n.id) ?? [];
    const head = [h('span', { class: `dot node-${n.state}`, 'aria-hidden': 'true' }), label(n), h('span', { class: 'muted' }, n.note ? ` = ${line(n.note, 200)}` : ` ${n.state}`)];
    if (below.length === 0 || depth > 200) return h('li', null, head);
    return h('li', null, h('details', { open: depth < 3 }, h('summary', null, head), h('ul', null, below.map((c) => branch(c, children, depth + 1)))));
  }
  return { el, reload: load.ask, close: load.stop };
}
