// What waits for a person: calls to be let pass or refused, questions, outcomes, plans.

import { of, post } from './api.js';
import { button, fill, h } from './dom.js';
import { link } from './router.js';
import { ballot, difference, patch, problem, votingWords } from './value.js';
import { block, brief, inked, line, pretty } from './text.js';

/** @typedef {import('./types.js').Question} Question */

const titles = { approval: 'May this be done?', outcome: 'Did this call happen?', plan: 'Carry out this plan?', question: 'A question' };

/**
 * refusal is the answer that refuses a call with a reason. A reason of one word, or one that
 * begins like a command, would be taken for something else.
 *
 * @param {string} reason
 */
export function refusal(reason) {
  const words = reason.trim();
  return words === '' ? 'no' : `no, ${words}`;
}

/**
 * waiting is the panel of open questions of a run. Those that stay keep what was typed.
 *
 * @param {string} run
 * @param {{changed: () => void, running: () => boolean}} o running says whether a process is there to take answers
 */
export function waiting(run, o) {
  /** @type {Map<string, HTMLElement>} */
  const cards = new Map();
  const el = h('section', { class: 'waiting', 'aria-label': 'Waiting for you', hidden: true });
  return {
    el,
    /** @param {Question[]} questions */
    update(questions) {
      const open = new Set(questions.map((q) => q.question));
      for (const [key, card] of cards) {
        if (open.has(key)) continue;
        card.remove();
        cards.delete(key);
      }
      for (const q of questions) {
        if (cards.has(q.question)) continue;
        const one = card(run, q, o);
        cards.set(q.question, one);
        el.append(one);
      }
      el.hidden = cards.size === 0;
    },
    /** focus leads to the first answer. */
    focus() {
      /** @type {HTMLElement | null} */ (el.querySelector('button, input, textarea'))?.focus();
    },
  };
}

/**
 * @param {string} run
 * @param {Question} q
 * @param {{changed: () => void, running: () => boolean}} o
 */
function card(run, q, o) {
  const isCall = q.kind === 'approval' && q.call !== undefined && q.text !== '';
  const says = h('div', { role: 'status' });
  const box = h('article', { class: 'card question', 'data-question': q.question });
  /**
   * @param {string} answer
   * @param {boolean} [replace]
   */
  async function give(answer, replace) {
    const controls = /** @type {NodeListOf<HTMLButtonElement>} */ (box.querySelectorAll('.answers button, .answers textarea, .answers input'));
    controls.forEach((c) => (c.disabled = true));
    fill(says, h('p', { class: 'muted' }, 'Sending…'));
    try {
      await post(of(run, 'answers'), { question: q.question, answer, replace: replace ?? false });
      fill(says, h('p', { class: 'ok' }, 'Answered: ', ...inked(brief(answer, 80)), o.running() ? '' : '. It goes on when it is resumed.'));
      o.changed();
    } catch (err) {
      const taken = /** @type {any} */ (err)?.status === 409 && !replace;
      fill(says, problem(err), taken ? button('Put mine in its place', () => give(answer, true)) : null);
      controls.forEach((c) => (c.disabled = false));
    }
  }
  return fill(
    box,
    h(
      'header',
      null,
      h('h2', null, isCall ? line(q.text, 200) : (titles[/** @type {keyof typeof titles} */ (q.kind)] ?? 'A question')),
      h('a', { href: link(['runs', run, 'step', q.step]), class: 'muted' }, `step ${q.step}`),
    ),
    q.call ? call(q) : null,
    q.text && !isCall ? block(q.text, { label: 'question', first: 2000 }) : null,
    q.plan ? block(q.plan, { label: 'plan', first: 6000 }) : null,
    q.voting ? h('p', { class: 'behind' }, ballot(q.voting), h('span', { class: 'muted' }, votingWords(q.voting))) : null,
    against(q),
    h('div', { class: 'answers' }, q.kind === 'approval' ? approval(q, give) : options(q, give)),
    q.left ? h('p', { class: 'ok' }, 'Answered, and not taken yet: ', ...inked(brief(q.left, 80))) : null,
    says,
  );
}

/**
 * call shows what a call would do: the change of a file, a command, or its arguments.
 *
 * @param {Question} q
 */
export function call(q) {
  const input = /** @type {any} */ (q.call?.input ?? {});
  const head = h('p', { class: 'call' }, h('b', null, q.call?.tool ?? ''), q.folder ? h('span', { class: 'muted' }, ' in ', h('code', null, ...inked(q.folder))) : null);
  if (q.change?.diff) return h('div', null, head, h('p', { class: 'file' }, h('code', null, ...inked(q.change.path)), h('span', { class: 'muted' }, q.change.state ? `, ${line(q.change.state, 120)}` : '')), patch(q.change.diff, `change of ${q.change.path}`));
  if (typeof input.command === 'string') {
    const { command, ...rest } = input;
    return h('div', null, head, h('div', { class: 'shell' }, block('$ ' + command, { label: 'command' })), Object.keys(rest).length > 0 ? block(pretty(rest), { label: 'other arguments' }) : null);
  }
  return h('div', null, head, block(pretty(input), { label: 'arguments' }));
}

/**
 * against shows what lost the vote, as a difference to the call.
 *
 * @param {Question} q
 */
function against(q) {
  const rivals = (q.voting?.answers ?? []).slice(1, 4);
  if (!q.call || rivals.length === 0) return null;
  const own = pretty({ tool: q.call.tool, input: q.call.input });
  return h(
    'details',
    null,
    h('summary', null, 'What other voters wanted'),
    rivals.map((r) => h('div', null, h('p', { class: 'muted' }, `${r.votes} for`), difference(own, pretty(r.answer), 'rival call'))),
  );
}

/**
 * @param {Question} q
 * @param {(answer: string) => void} give
 */
function approval(q, give) {
  const why = h('input', { type: 'text', placeholder: 'Why not? The agents read it', 'aria-label': 'Reason to refuse', maxlength: 2000 });
  const form = h('form', { class: 'refuse', onsubmit: (e) => { e.preventDefault(); give(refusal(why.value)); } }, why, h('button', { type: 'submit', class: 'danger' }, 'Refuse'));
  const edit = h('textarea', { rows: 8, spellcheck: 'false', 'aria-label': 'Arguments as JSON' });
  edit.value = pretty(q.call?.input);
  const changed = h('details', null, h('summary', null, 'Change the arguments'), edit, button('Allow it like this', () => give('edit ' + compact(edit.value))));
  return [
    h(
      'div',
      { class: 'choices' },
      button('Allow once', () => give('yes'), { class: 'primary' }),
      q.rule ? button('Allow for this run', () => give('run'), { title: `Calls that fit ${line(q.rule, 200)} pass for the rest of the run`, 'aria-describedby': `rule-${q.question}` }) : null,
      form,
    ),
    q.rule ? h('p', { class: 'hint', id: `rule-${q.question}` }, 'For this run: calls that fit ', h('code', null, ...inked(q.rule))) : null,
    q.call ? changed : null,
  ];
}

/**
 * compact is JSON on one line; what is none is left for the server to complain about.
 *
 * @param {string} text
 */
function compact(text) {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/**
 * @param {Question} q
 * @param {(answer: string) => void} give
 */
function options(q, give) {
  const votes = q.call ? [] : (q.voting?.answers ?? []);
  const list = (q.options ?? []).map((text, i) =>
    button([h('span', null, ...inked(text.slice(0, 2000))), votes[i] ? h('span', { class: 'tag num' }, `${votes[i].votes} votes`) : null], () => give(text), { class: 'option' }),
  );
  const free = q.free || list.length === 0;
  if (!free) return [h('div', { class: 'choices column' }, list)];
  const own = h('textarea', { rows: q.kind === 'plan' ? 10 : 2, 'aria-label': q.kind === 'plan' ? 'Another plan' : 'Your answer', placeholder: q.kind === 'plan' ? 'Another plan, as YAML' : 'Your answer' });
  if (q.kind === 'plan') own.value = q.plan ?? '';
  const form = h('form', { onsubmit: (e) => { e.preventDefault(); if (own.value.trim()) give((q.kind === 'plan' ? 'edit\n' : '') + own.value); } }, own, h('button', { type: 'submit' }, q.kind === 'plan' ? 'Carry out this one instead' : 'Answer'));
  return [list.length > 0 ? h('div', { class: 'choices column' }, list) : null, q.kind === 'plan' ? h('details', null, h('summary', null, 'Another plan'), form) : form];
}

/**
 * asked lists all that a run has asked the person.
 *
 * @param {Question[]} questions
 */
export function asked(questions) {
  if (questions.length === 0) return h('p', { class: 'empty' }, 'It has asked nothing.');
  return h(
    'ol',
    { class: 'asked' },
    questions.map((q) =>
      h(
        'li',
        { class: 'card' },
        h('header', null, h('b', null, q.kind), h('span', { class: 'muted' }, `step ${q.step}`)),
        block(q.text, { label: 'question', first: 1000 }),
        q.call ? call(q) : null,
        h('p', null, q.answered ? [h('b', null, 'Answer: '), ...inked(brief(q.answer, 500)), h('span', { class: 'muted' }, ` (${brief(q.by, 80)})`)] : h('b', { class: 'state state-waiting' }, 'waiting')),
      ),
    ),
  );
}
