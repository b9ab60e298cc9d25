// The records of a map as a table, with filters and pages.

import { get, of } from './api.js';
import { button, debounced, fill, h, paced } from './dom.js';
import { go, link } from './router.js';
import { ballot, cost, glance, plain, problem } from './value.js';
import { brief, count, line, thousands } from './text.js';

const page = 50;
const statuses = ['decided', 'undecided', 'flagged_out', 'failed', 'open'];

/**
 * @typedef {object} RecordRow
 * @property {number} number
 * @property {number} [line]
 * @property {Record<string, unknown>} values
 * @property {string} status
 * @property {string} [reason]
 * @property {unknown} output
 * @property {import('./types.js').Voting} voting
 * @property {number | null} cost_usd
 * @property {boolean | null} [right]
 * @property {boolean} [same]
 */

/**
 * records is the table. Where one is in it is in the address.
 *
 * @param {string} run
 */
export function records(run) {
  let status = '';
  let query = '';
  let from = 0;
  const search = h('input', { type: 'search', placeholder: 'Search records  /', 'aria-label': 'Search records', oninput: () => typed() });
  const filter = h('select', { 'aria-label': 'Status of records', onchange: () => here(0) }, h('option', { value: '' }, 'All'), statuses.map((s) => h('option', { value: s }, s.replace('_', ' '))));
  const where = h('span', { class: 'num muted', role: 'status' });
  const body = h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Records' });
  const foot = h('div', { class: 'pages' });
  const el = h('section', { class: 'card', 'aria-label': 'Records' }, h('div', { class: 'bar' }, h('h2', null, 'Records'), where, h('div', { class: 'tools' }, search, filter)), body, foot);
  const typed = debounced(250, () => here(0));
  /** @param {number} to */
  function here(to) {
    go(link(['runs', run, 'records'], { q: search.value, status: filter.value, at: to || undefined }), { replace: true });
  }
  const load = paced(700, async () => {
    try {
      const said = await get(of(run, 'records'), { status, q: query, from, limit: page });
      draw(said.records ?? [], said.total ?? 0, (said.columns ?? []).slice(0, 12), said.counts ?? {});
    } catch (err) {
      fill(body, problem(err));
    }
  });
  /**
   * @param {RecordRow[]} rows
   * @param {number} total
   * @param {string[]} columns
   * @param {Record<string, number>} counts
   */
  function draw(rows, total, columns, counts) {
    for (const o of filter.options) if (o.value) o.textContent = `${o.value.replace('_', ' ')} (${thousands(counts[o.value] ?? 0)})`;
    where.textContent = rows.length === 0 ? '' : `${thousands(from + 1)} – ${thousands(from + rows.length)} of ${thousands(total)}`;
    fill(
      body,
      rows.length === 0
        ? h('p', { class: 'empty' }, 'No record fits.')
        : h(
            'table',
            { 'aria-label': 'Records' },
            h('thead', null, h('tr', null, ['#', ...columns, 'answer', 'votes', 'status', 'cost'].map((c) => h('th', { scope: 'col' }, line(c, 40))))),
            h('tbody', null, rows.map((r) => row(r, columns))),
          ),
    );
    fill(
      foot,
      button('‹ Before', () => here(Math.max(0, from - page)), { disabled: from === 0 }),
      button('Next ›', () => here(from + page), { disabled: from + page >= total }),
      h('span', { class: 'muted num' }, count(total, 'record')),
    );
  }
  /**
   * @param {RecordRow} r
   * @param {string[]} columns
   */
  function row(r, columns) {
    const bad = r.status !== 'open' && r.status !== 'decided';
    return h(
      'tr',
      null,
      h('td', { class: 'num' }, r.status === 'open' ? thousands(r.number) : h('a', { href: link(['runs', run, 'step', r.number]) }, thousands(r.number))),
      columns.map((c) => h('td', null, brief(r.values?.[c], 80))),
      h('td', { class: 'answer' }, bad ? line(r.reason ?? '', 120) : glance(plain(r.output), 120), r.right === false ? h('span', { class: 'tag bad', title: 'the known answer is another' }, 'wrong') : null, r.same ? h('span', { class: 'tag', title: 'an earlier record has the same questions' }, 'same') : null),
      h('td', null, r.voting?.votes ? ballot(r.voting) : ''),
      h('td', null, r.status === 'open' ? h('span', { class: 'muted' }, 'not asked') : h('span', { class: `tag ${bad ? 'bad' : 'good'}` }, r.status.replace('_', ' '))),
      h('td', null, r.status === 'open' ? '' : cost(r.cost_usd)),
    );
  }
  return {
    el,
    reload: load.ask,
    close: load.stop,
    search: () => search.focus(),
    /** @param {URLSearchParams} q */
    place(q) {
      const now = [q.get('q') ?? '', q.get('status') ?? '', Number(q.get('at') ?? 0) || 0].join('\n');
      [query, status, from] = [q.get('q') ?? '', q.get('status') ?? '', Math.max(0, Number(q.get('at') ?? 0) || 0)];
      if (document.activeElement !== search) search.value = query;
      filter.value = status;
      if (now !== el.dataset['at']) {
        el.dataset['at'] = now;
        load.ask();
      }
    },
  };
}
