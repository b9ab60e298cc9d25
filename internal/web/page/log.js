// What happens in a run, as its log says it: the latest events, newest first.

import { button, h } from './dom.js';
import { link } from './router.js';
import { block, brief, duration, line, thousands } from './text.js';
import { split } from './value.js';

const most = 200; // events that are kept

/**
 * words say what an event is in a line.
 *
 * @param {any} e
 */
export function words(e) {
  switch (e.type) {
    case 'step_completed':
      return `done, votes ${split(e.voting)}${e.duration_ms ? ', ' + duration(e.duration_ms) : ''}`;
    case 'vote_completed':
      return `${line(e.status, 20)}, votes ${split(e.voting)}`;
    case 'agent_sample_completed':
      return `vote by ${line(e.voter || e.model || 'a voter', 60)}`;
    case 'agent_sample_red_flagged':
      return `discarded, ${line(e.flag, 40)}: ${line(e.reason, 120)}`;
    case 'agent_sample_faulted':
      return `${line(e.kind, 40)}: ${line(e.message, 120)}`;
    case 'effect_claimed':
    case 'effect_done':
    case 'effect_refused':
    case 'effect_unknown':
      return `${line(e.tool, 40)} ${brief(e.input?.command ?? e.input?.file_path ?? '', 80)}`;
    case 'clarification_requested':
      return line(e.text, 120);
    case 'clarification_provided':
      return `${line(e.answer, 80)} (${line(e.by, 40)})`;
  }
  return line(e.reason || e.title || e.text || e.task || '', 120);
}

/** @param {string} run */
export function log(run) {
  const rows = h('ol', { class: 'log', reversed: true });
  const el = h('section', { class: 'card', 'aria-label': 'Log' }, h('div', { class: 'bar' }, h('h2', null, 'Log'), h('span', { class: 'muted' }, 'newest first')), rows);
  return {
    el,
    reload() {},
    close() {},
    /** @param {any} e */
    add(e) {
      const detail = h('div');
      const open = button('{ }', () => {
        if (detail.firstChild) detail.replaceChildren();
        else detail.append(block(JSON.stringify(e, null, 2), { label: 'event' }));
      }, { class: 'raw', 'aria-label': `Event ${e.seq} as JSON` });
      rows.prepend(
        h(
          'li',
          null,
          h('span', { class: 'num muted' }, thousands(e.seq ?? 0)),
          h('time', { class: 'num muted', datetime: e.timestamp }, String(e.timestamp ?? '').slice(11, 19)),
          h('b', null, line(String(e.type ?? '').replace(/^agent_/, '').replaceAll('_', ' '), 40)),
          e.step !== undefined ? h('a', { class: 'num', href: link(['runs', run, 'step', e.step]) }, thousands(e.step)) : h('span'),
          h('span', { class: 'what' }, words(e)),
          open,
          detail,
        ),
      );
      while (rows.children.length > most) rows.lastElementChild?.remove();
    },
  };
}
