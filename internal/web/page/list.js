// The list of runs: those that wait for a person first, then the newest.

import { follow, get } from './api.js';
import { button, debounced, fill, h, paced } from './dom.js';
import { go, link } from './router.js';
import { cost, problem } from './value.js';
import { count, line, moment, thousands } from './text.js';

/** @typedef {import('./types.js').Summary} Summary */

const page = 50;

/** The states of runs, those first that people look for first. */
export const states = ['waiting', 'answered', 'running', 'paused', 'interrupted', 'stopped', 'undecided', 'failed', 'cancelled', 'completed', 'unreadable'];

/**
 * state is a word with a sign, so that colour is not all that tells states apart.
 *
 * @param {string} word
 */
export function state(word) {
  return h('span', { class: `state state-${word}` }, h('i', { 'aria-hidden': 'true' }), word);
}

/**
 * progress is a bar with what is done of how much.
 *
 * @param {number} done
 * @param {number} total 0 if nobody knows
 */
export function progress(done, total) {
  const words = total > done ? `${thousands(done)} / ${thousands(total)}` : count(done, 'step');
  const bar = total > 0 ? h('progress', { max: total, value: Math.min(done, total), 'aria-label': `${thousands(done)} of ${thousands(total)} steps` }) : null;
  return h('span', { class: 'progress' }, bar, h('span', { class: 'num' }, words));
}

/**
 * list is the view.
 *
 * @param {import('./router.js').Place} place
 */
export function list(place) {
  let query = place.query.get('q') ?? '';
  let wanted = place.query.get('state') ?? '';
  let limit = page;
  let at = -1; // the row that j and k have come to

  const search = h('input', {
    type: 'search',
    id: 'search',
    placeholder: 'Search runs  /',
    'aria-label': 'Search runs by name, kind, task or model',
    value: query,
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: () => typed(),
  });
  const filter = h(
    'select',
    { 'aria-label': 'State', onchange: () => choose() },
    h('option', { value: '' }, 'All states'),
    states.map((s) => h('option', { value: s, selected: s === wanted }, s)),
  );
  const total = h('span', { class: 'num muted', role: 'status' });
  const rows = h('ul', { class: 'runs', 'aria-label': 'Runs' });
  const foot = h('div');
  const el = h('div', { class: 'page' }, h('div', { class: 'bar' }, h('h1', null, 'Runs'), total, h('div', { class: 'tools' }, search, filter, h('a', { class: 'primary', href: '#/start' }, 'New run'))), rows, foot);

  const typed = debounced(200, () => {
    query = search.value;
    here();
  });
  function choose() {
    wanted = filter.value;
    here();
  }
  function here() {
    history.replaceState(null, '', link([], { q: query, state: wanted }));
    limit = page;
    load.ask();
  }

  const load = paced(500, async () => {
    try {
      const said = await get('/runs', { q: query, state: wanted, limit });
      draw(said.runs ?? [], said.total ?? 0);
    } catch (err) {
      fill(foot, problem(err));
    }
  });

  /**
   * @param {Summary[]} runs
   * @param {number} all
   */
  function draw(runs, all) {
    const focused = document.activeElement?.closest('li')?.getAttribute('data-run');
    fill(rows, runs.map(row));
    for (const li of rows.children) {
      if (focused && li.getAttribute('data-run') === focused) /** @type {HTMLElement | null} */ (li.querySelector('a'))?.focus({ preventScroll: true });
    }
    total.textContent = count(all, 'run');
    const more = all > runs.length && button(`Show more (${count(all - runs.length, 'run')} left)`, () => {
      limit += 4 * page;
      load.ask();
    }, { class: 'more' });
    const none = runs.length === 0 && h('p', { class: 'empty' }, query || wanted ? 'No run fits. ' : 'There are no runs yet. ', h('a', { href: query || wanted ? '#/' : '#/start' }, query || wanted ? 'Show all' : 'Start one'));
    fill(foot, more, none);
  }

  /** @param {Summary} r */
  function row(r) {
    const what = r.error ? r.error : r.task;
    return h(
      'li',
      { 'data-run': r.run, class: r.state === 'waiting' ? 'waits' : null },
      h('a', { href: link(['runs', r.run]) }, h('span', { class: 'task' }, line(what, 160) || line(r.run, 100)), h('span', { class: 'name mono' }, line(r.run, 100))),
      state(r.state),
      h('span', { class: 'kind' }, r.kind, r.simulated ? h('span', { class: 'tag', title: 'no real model answered' }, 'simulated') : null),
      h('span', { class: 'model', title: line(r.model, 300) }, line(r.model, 60)),
      progress(r.steps_completed, r.steps_total),
      cost(r.total_cost_usd),
      h('span', { class: 'when' }, moment(r.updated)),
    );
  }

  /** @param {number} by */
  function step(by) {
    const links = /** @type {NodeListOf<HTMLElement>} */ (rows.querySelectorAll('li > a'));
    const here = [...links].indexOf(/** @type {HTMLElement} */ (document.activeElement));
    at = Math.min(links.length - 1, Math.max(0, (here >= 0 ? here : at) + by));
    links[at]?.focus();
  }

  const live = follow('/events', { heard: () => load.ask(), opened: () => load.ask() });
  load.ask();
  const clock = setInterval(() => load.ask(), 30_000); // "3 min ago" is not for ever

  return {
    el,
    title: 'Runs',
    keys: /** @type {Record<string, () => void>} */ ({ '/': () => search.focus(), j: () => step(1), k: () => step(-1), n: () => go('#/start') }),
    close() {
      live.close();
      load.stop();
      clearInterval(clock);
    },
  };
}
