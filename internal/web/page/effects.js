// Calls of tools: what was claimed, who let it pass, and what came of it.

import { get, of } from './api.js';
import { fill, h } from './dom.js';
import { link } from './router.js';
import { ballot, difference, glance, plain, problem, value, votingWords } from './value.js';
import { inked, line, pretty } from './text.js';

/** @typedef {import('./types.js').Effect} Effect */

/**
 * effect is a call.
 *
 * @param {string} run
 * @param {Effect} e
 */
export function effect(run, e) {
  const bad = e.status === 'failed' || e.status === 'unknown';
  return h(
    'details',
    { class: 'effect' },
    h(
      'summary',
      null,
      h('span', { class: `tag ${bad ? 'bad' : e.status === 'refused' ? 'warn' : 'good'}` }, line(e.status, 20)),
      h('b', null, line(e.tool, 60)),
      h('code', { class: 'what' }, glance(command(e.input), 140)),
      e.voting?.votes ? ballot(e.voting) : null,
    ),
    h('p', { class: 'muted' }, h('a', { href: link(['runs', run, 'step', e.step]) }, `step ${e.step}`), e.by ? [', ', e.status === 'refused' ? 'refused: ' : 'let pass: ', ...inked(line(e.by, 200))] : '', e.voting?.votes ? `; ${votingWords(e.voting)}` : ''),
    e.status === 'unknown' ? h('p', { class: 'note' }, 'It was claimed, and nobody knows whether it happened.') : null,
    h('h4', null, 'Arguments'),
    value(run, e.input, 'arguments'),
    e.voted !== undefined && e.voted !== null ? [h('h4', null, 'What the voters wanted'), difference(pretty(plain(e.input)), pretty(plain(e.voted)), 'what voters wanted against what was called')] : null,
    e.before ? h('p', { class: 'muted' }, 'before: ', h('code', null, ...inked(e.before.path)), e.before.kept ? [', kept as ', h('code', null, ...inked(e.before.kept))] : ', which was not there') : null,
    e.result !== null && e.result !== undefined ? [h('h4', null, 'Result'), value(run, e.result, 'result')] : null,
  );
}

/**
 * command is what tells a call apart at a glance: a command, a path, or all of it.
 *
 * @param {unknown} input
 */
function command(input) {
  const v = /** @type {any} */ (plain(input));
  return v?.command ?? v?.file_path ?? v?.path ?? input;
}

/**
 * effectList is all calls of a run.
 *
 * @param {string} run
 */
export function effectList(run) {
  const el = h('section', { class: 'card', 'aria-label': 'Calls' }, h('p', { class: 'muted' }, 'Loading…'));
  let known = '';
  async function reload() {
    try {
      const said = await get(of(run, 'effects'));
      const list = /** @type {Effect[]} */ (said.effects ?? said ?? []);
      const text = JSON.stringify(list);
      if (text === known) return;
      known = text;
      fill(el, h('div', { class: 'bar' }, h('h2', null, 'Calls')), list.length === 0 ? h('p', { class: 'empty' }, 'No call has won a vote.') : list.slice(0, 1000).map((e) => effect(run, e)));
    } catch (err) {
      fill(el, problem(err));
    }
  }
  return { el, reload: () => void reload(), close() {} };
}
