// What the votes of a run prove.

import { get, of } from './api.js';
import { fill, h } from './dom.js';
import { link } from './router.js';
import { facts, problem } from './value.js';
import { inked, line, percent, thousands } from './text.js';

/** @typedef {{step: number, question?: string, class: string, lead: number, second: number, decided: boolean, races: number, wrong: number, near_tie: number}} Call */

/**
 * certificate reads the whole log at the server, so that it is fetched when it is asked for.
 *
 * @param {string} run
 */
export function certificate(run) {
  const el = h('section', { class: 'card', 'aria-label': 'Certificate' }, h('p', { class: 'muted' }, 'Reading the log…'));
  async function reload() {
    try {
      draw(await get(of(run, 'certificate')));
    } catch (err) {
      fill(el, problem(err));
    }
  }
  /** @param {any} c */
  function draw(c) {
    fill(
      el,
      h('div', { class: 'bar' }, h('h2', null, 'Certificate')),
      h('ul', { class: 'says' }, (c.says ?? []).map((/** @type {string} */ s) => h('li', null, ...inked(s)))),
      facts([
        ['every answer is its voters’ likeliest', c.votes?.races && c.votes.bound > 0 ? `at least ${percent(c.votes.bound)}` : ''],
        ['expected otherwise', c.votes?.races ? c.votes.expected_wrong.toPrecision(2) : ''],
        ['races', c.votes ? thousands(c.votes.races) : ''],
        ['undecided', c.votes ? thousands(c.votes.undecided) : ''],
        ['answers of a single sample', c.votes ? thousands(c.votes.unvoted) : ''],
        ['truth known by', line(c.truth?.basis ?? '', 60)],
        ['checked', c.truth?.checked ? `${thousands(c.truth.checked)}, ${thousands(c.truth.wrong ?? 0)} wrong` : ''],
      ]),
      calls('Closest calls', c.closest_calls ?? []),
      calls('Near ties', c.near_ties ?? []),
      c.assumptions?.length ? h('section', null, h('h3', null, 'It assumes'), h('ul', null, c.assumptions.map((/** @type {string} */ a) => h('li', null, ...inked(a))))) : null,
      c.log_hash ? h('p', { class: 'muted mono hash' }, `log ${c.log_hash}`) : null,
    );
  }
  /**
   * @param {string} title
   * @param {Call[]} list
   */
  function calls(title, list) {
    if (list.length === 0) return null;
    return h(
      'section',
      null,
      h('h3', null, title),
      h(
        'div',
        { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title },
        h(
          'table',
          { 'aria-label': title },
          h('thead', null, h('tr', null, ['step', 'votes', 'class', 'like it', 'chance that it is wrong'].map((c) => h('th', { scope: 'col' }, c)))),
          h('tbody', null, list.map((x) => h('tr', null, h('td', { class: 'num' }, h('a', { href: link(['runs', run, 'step', x.step]) }, thousands(x.step))), h('td', { class: 'num' }, `${x.lead}–${x.second}`, x.decided ? '' : ' undecided'), h('td', null, line(x.class, 60)), h('td', { class: 'num' }, thousands(x.races)), h('td', { class: 'num' }, percent(x.wrong))))),
        ),
      ),
    );
  }
  return { el, reload: () => void reload(), close() {} };
}
