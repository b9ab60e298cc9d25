// Steps of a run: the closest calls as a list, and one step with all that is known of it.

import { get, of } from './api.js';
import { button, fill, h, paced } from './dom.js';
import { link } from './router.js';
import { ballot, cost, difference, facts, glance, plain, problem, value, votingWords } from './value.js';
import { effect } from './effects.js';
import { block, count, dollars, duration, inked, line, percent, pretty, thousands } from './text.js';

/** @typedef {import('./types.js').StepDetail} StepDetail */
/** @typedef {import('./types.js').StepResult} StepResult */
/** @typedef {import('./types.js').Rival} Rival */
/** @typedef {import('./types.js').Sample} Sample */
/** @typedef {{from: number, to: number}} Range */

const page = 50;

/**
 * lead is the share of its votes by which a step was won.
 *
 * @param {StepResult} s
 */
export function lead(s) {
  const votes = Object.values(s.voting.votes ?? {}).sort((a, b) => b - a);
  const all = votes.reduce((a, b) => a + b, 0);
  return all === 0 ? 1 : ((votes[0] ?? 0) - (votes[1] ?? 0)) / all;
}

/**
 * stepList lists the steps of a range: the closest calls first, or all in order. It says in
 * words what the strip shows.
 *
 * @param {string} run
 * @param {Promise<void>} ready is waited for: of a long run either takes a while, and the strip comes first
 */
export function stepList(run, ready) {
  let order = 'margin';
  let limit = page;
  /** @type {Range | null | undefined} */
  let range;
  let selected = -1;
  /** @type {any[]} */
  let unsettled = [];
  const body = h('div', { class: 'steps' });
  const orders = h('div', { class: 'switch', role: 'group', 'aria-label': 'Order of steps' });
  const heading = h('h2', { id: 'closest' }, 'Closest calls');
  const el = h('section', { class: 'card', 'aria-labelledby': 'closest' }, h('div', { class: 'bar' }, heading, h('div', { class: 'tools' }, orders)), body);

  const load = paced(300, async () => {
    await ready;
    try {
      const said = await get(of(run, 'steps'), { from: range?.from, to: range?.to, order, contested: order === 'margin' ? 'true' : undefined, limit });
      draw(said.steps ?? [], said.more);
    } catch (err) {
      fill(body, problem(err));
    }
  });
  /**
   * @param {StepResult[]} steps
   * @param {boolean} more
   */
  function draw(steps, more) {
    const focused = document.activeElement?.getAttribute('data-step');
    fill(
      orders,
      [['margin', 'Closest'], ['step', 'All in order']].map(([name = '', label = '']) =>
        button(label, () => { order = name; limit = page; load.ask(); }, { 'aria-pressed': String(order === name) }),
      ),
    );
    heading.textContent = order === 'margin' ? 'Closest calls' : 'Steps';
    const open = unsettled.map((u) => row(u, 'unsettled'));
    fill(
      body,
      open.length + steps.length === 0 ? h('p', { class: 'empty' }, order === 'margin' ? 'No step was contested so far.' : 'No step is done yet.') : null,
      h('ol', { class: 'rows' }, open, steps.map((s) => row(s, ''))),
      more ? button('Show more', () => { limit *= 4; load.ask(); }, { class: 'more' }) : null,
    );
    if (focused) /** @type {HTMLElement | null} */ (body.querySelector(`[data-step="${CSS.escape(focused)}"]`))?.focus({ preventScroll: true });
    mark();
  }
  /**
   * @param {StepResult & {status?: string, reason?: string}} s
   * @param {string} kind
   */
  function row(s, kind) {
    const what = kind ? (s.reason ?? s.status ?? '') : s.title || glance(s.output, 90);
    return h(
      'li',
      null,
      h(
        'a',
        { href: link(['runs', run, 'step', s.step], range ?? {}), 'data-step': s.step, class: kind || null },
        h('span', { class: 'num step' }, thousands(s.step)),
        s.voting ? ballot(s.voting) : h('span'),
        h('span', { class: 'what' }, line(what, 90)),
        kind ? h('span', { class: 'tag bad' }, line(s.status ?? 'open', 30)) : h('span', { class: 'num muted', title: 'share of the votes by which it was won' }, s.by ? `by ${s.by}` : `${Math.round(100 * lead(s))} %`),
      ),
    );
  }
  function mark() {
    for (const a of body.querySelectorAll('a[data-step]')) {
      if (a.getAttribute('data-step') === String(selected)) a.setAttribute('aria-current', 'true');
      else a.removeAttribute('aria-current');
    }
  }
  return {
    el,
    reload: load.ask,
    close: load.stop,
    /** @param {{range: Range | null, selected: number}} state */
    update(state) {
      selected = state.selected;
      if (JSON.stringify(state.range) !== JSON.stringify(range)) {
        range = state.range;
        limit = page;
        load.ask();
      }
      mark();
    },
    /** @param {any[]} list steps without a result */
    open(list) {
      if (JSON.stringify(list) === JSON.stringify(unsettled)) return;
      unsettled = list;
      load.ask();
    },
    /** @param {number} by */
    move(by) {
      const links = /** @type {HTMLElement[]} */ ([...body.querySelectorAll('a[data-step]')]);
      const here = links.findIndex((a) => a === document.activeElement || a.getAttribute('aria-current'));
      links[Math.min(links.length - 1, Math.max(0, here + by))]?.focus();
    },
  };
}

/**
 * stepView shows one step: its rival answers side by side, who voted for them, what was
 * discarded and why, what was asked, and the calls that it made.
 *
 * @param {string} run
 * @param {number} n
 * @param {{back: string}} o
 */
export function stepView(run, n, o) {
  const body = h('div', null, h('p', { class: 'muted' }, 'Loading…'));
  const head = h('h2', { tabindex: '-1' }, `Step ${thousands(n)}`);
  const nav = h(
    'div',
    { class: 'tools' },
    h('a', { href: link(['runs', run, 'step', Math.max(0, n - 1)]), 'aria-label': 'Step before', title: 'Step before ([)' }, '‹'),
    h('a', { href: link(['runs', run, 'step', n + 1]), 'aria-label': 'Next step', title: 'Next step (])' }, '›'),
    h('a', { href: o.back, 'aria-label': 'Close the step', title: 'Close (Esc)' }, '×'),
  );
  const el = h('section', { class: 'card stepview', 'aria-label': `Step ${n}` }, h('div', { class: 'bar' }, head, nav), body);
  let known = '';
  const load = paced(1000, async () => {
    try {
      const d = /** @type {StepDetail} */ (await get(of(run, 'steps', n)));
      const text = JSON.stringify(d);
      if (text === known) return;
      known = text;
      fill(body, parts(run, d));
    } catch (err) {
      fill(body, problem(err));
    }
  });
  load.ask();
  return { el, step: n, reload: load.ask, close: load.stop, focus: () => head.focus({ preventScroll: true }) };
}

/**
 * @param {string} run
 * @param {StepDetail} d
 */
function parts(run, d) {
  const settled = d.status === 'decided' || d.status === '';
  return [
    d.title ? h('p', { class: 'title' }, ...inked(d.title.slice(0, 500))) : null,
    facts([
      ['status', settled ? (d.by ? `settled by ${d.by}` : 'decided') : [h('span', { class: 'tag bad' }, line(d.status, 40)), ' ', ...inked((d.reason ?? '').slice(0, 500))]],
      ['votes', d.voting?.votes ? ballot(d.voting) : ''],
      ['margin', settled && d.voting ? `${d.voting.margin} (${percent(lead(d))} of the votes)` : ''],
      ['samples', d.voting ? thousands(d.voting.samples) : ''],
      ['discarded', d.voting?.red_flagged ? thousands(d.voting.red_flagged) : ''],
      ['faults', d.voting?.faults ? thousands(d.voting.faults) : ''],
      ['cost', settled ? dollars(d.cost_usd) : ''],
      ['time', settled ? duration(d.duration_ms) : ''],
      ['class', d.class ?? ''],
      ['asked before', d.first ? votingWords(d.first) : ''],
    ]),
    d.changed?.length ? h('p', { class: 'note' }, `A resume would ask this differently now: ${d.changed.join(', ')}. What was decided stands.`) : null,
    rivals(run, d),
    d.first ? before(d) : null,
    flags(d),
    d.effects?.length ? h('section', null, h('h3', null, 'Calls'), d.effects.map((e) => effect(run, e))) : null,
    d.samples?.length ? samples(run, d.samples, d.rivals ?? [], d.voted) : null,
    prompt(d.asked),
  ];
}

/**
 * text is an answer as the lines that are compared.
 *
 * @param {unknown} answer
 */
const text = (answer) => pretty(plain(answer));

/**
 * votedFor is what a vote was for, as lines: its key where that is the answer itself, so that
 * all rivals are written alike; a long key is a hash and says nothing.
 *
 * @param {Rival} r
 */
export function votedFor(r) {
  try {
    const key = JSON.parse(r.key);
    if (key !== null && typeof key === 'object') return pretty(key);
  } catch {
    // it is a hash, or words
  }
  return text(r.answer);
}

/**
 * isCall reports whether an answer proposes a call.
 *
 * @param {unknown} answer
 */
function isCall(answer) {
  const v = /** @type {any} */ (plain(answer));
  return v !== null && typeof v === 'object' && Object.keys(v).length === 2 && typeof v.tool === 'string' && 'input' in v;
}

/**
 * unlike reports whether one of two answers proposes a call and the other is a result: there is
 * nothing to compare then.
 *
 * @param {Rival} leading
 * @param {Rival} r
 */
export const unlike = (leading, r) => isCall(r.answer) !== isCall(leading.answer);

/**
 * @param {Rival} leading
 * @param {Rival} r
 * @param {number} i its place among the rivals
 */
function against(leading, r, i) {
  if (i === 0) return block(votedFor(leading), { label: 'leading answer' });
  if (!unlike(leading, r)) return difference(votedFor(leading), votedFor(r), `answer ${i + 1} against the leading one`);
  const called = isCall(r.answer);
  return [h('p', { class: 'note' }, called ? 'It proposes a call, and answer 1 is a result: the two are not compared.' : 'It is a result, and answer 1 a call: the two are not compared.'), block(votedFor(r), { label: `answer ${i + 1}, a ${called ? 'proposed call' : 'result'}` })];
}

/**
 * @param {string} run
 * @param {StepDetail} d
 */
function rivals(run, d) {
  const list = d.rivals ?? [];
  if (list.length < 2) {
    const only = list[0];
    return h('section', null, h('h3', null, 'Answer'), only && only.answer !== null && !d.output ? value(run, only.answer, 'answer') : value(run, d.output, 'answer'), d.voting?.unvoted?.length ? h('p', { class: 'note' }, `No vote was about ${d.voting.unvoted.join(', ')}.`) : null);
  }
  const first = /** @type {Rival} */ (list[0]);
  return h(
    'section',
    null,
    h('h3', null, `${list.length} rival answers`),
    h(
      'div',
      { class: 'rivals' },
      list.slice(0, 8).map((r, i) =>
        h(
          'article',
          { class: `rival vote-${Math.min(i, 3)}` },
          h('header', null, h('b', null, r.won ? 'Won' : first.won ? 'Lost' : r.votes === first.votes ? (list[1]?.votes === first.votes ? 'Tied' : 'Led') : 'Behind'), h('span', { class: 'muted' }, `answer ${i + 1}`), h('span', { class: 'num' }, count(r.votes, 'vote')), r.voters?.length ? h('span', { class: 'muted who' }, line(tally(r.voters), 160)) : null),
          against(first, r, i),
        ),
      ),
    ),
    list.length > 8 ? h('p', { class: 'muted' }, `and ${count(list.length - 8, 'other answer')}`) : null,
    first.won && (d.voted || (isCall(first.answer) && !isCall(d.output))) ? [h('p', { class: 'note' }, 'This was the closest vote of the step. The step came to:'), value(run, d.output, 'result of the step')] : null,
  );
}

/**
 * tally says who gave how many votes.
 *
 * @param {string[]} voters
 */
export function tally(voters) {
  /** @type {Map<string, number>} */
  const by = new Map();
  for (const v of voters) by.set(v, (by.get(v) ?? 0) + 1);
  return [...by].map(([name, n]) => (n > 1 ? `${name} ×${n}` : name)).join(', ');
}

/**
 * @param {unknown} output what stands
 * @param {unknown} answer
 */
function earlier(output, answer) {
  if (isCall(answer) && !isCall(output)) return block(text(answer), { label: 'earlier answer, a proposed call' });
  return difference(text(output), text(answer), 'earlier answer against the one that stands');
}

/** @param {StepDetail} d */
function before(d) {
  const answers = d.first?.answers ?? [];
  return h('section', null, h('h3', null, 'Those who were asked before'), h('p', null, ballot(d.first)), answers.slice(0, 4).map((c) => h('div', null, h('p', { class: 'muted' }, `${count(c.votes, 'vote')} for`), earlier(d.output, c.answer))));
}

/** @param {StepDetail} d */
function flags(d) {
  const flagged = (d.samples ?? []).filter((s) => s.outcome === 'flag');
  const known = d.voting?.discarded ?? [];
  if (flagged.length > 0 || known.length === 0) return null; // the samples say more
  return h('section', null, h('h3', null, 'Discarded'), h('ul', null, known.map((f) => h('li', null, h('b', null, line(f.flag, 40)), ` ×${f.count}: `, ...inked(f.reason.slice(0, 500)), f.said ? block(f.said, { label: 'what was said', first: 1000 }) : null))));
}

/**
 * ballotKeys are the keys that votes were for, in the order of the rivals, so that "answer 1" is
 * the same one wherever it is named. What is no rival, such as a vote about a call on the way,
 * comes behind them.
 *
 * @param {Rival[]} rivals
 * @param {Sample[]} list
 */
export function ballotKeys(rivals, list) {
  return [...new Set([...rivals.map((r) => r.key), ...list.flatMap((s) => (s.outcome === 'vote' ? [s.vote ?? ''] : []))])];
}

/**
 * samples is the table of all attempts.
 *
 * @param {string} run
 * @param {Sample[]} list
 * @param {Rival[]} rivals
 * @param {string | undefined} voted the question that they are answers to, if there are several
 */
function samples(run, list, rivals, voted) {
  const keys = ballotKeys(rivals, voted ? list.filter((s) => s.question === voted) : list);
  const questions = new Set(list.map((s) => s.question)).size;
  const rows = list.slice(0, 300).map((s) => {
    const i = keys.indexOf(s.vote ?? '');
    const aside = voted && s.question !== voted;
    const outcome = s.outcome === 'vote' && aside ? h('span', { class: 'muted', title: line(s.question, 120) }, 'another vote') : s.outcome === 'vote' ? h('span', { class: `vote-${Math.min(i, 3)} pick` }, h('i', { 'aria-hidden': 'true' }), `answer ${i + 1}`) : h('span', { class: `tag ${s.outcome === 'flag' ? 'bad' : 'warn'}` }, line(s.flag ?? s.outcome, 40));
    return h(
      'li',
      null,
      h(
        'details',
        null,
        h('summary', null, h('span', { class: 'num' }, `#${s.sample}`), outcome, h('span', { class: 'who' }, line(s.voter ?? '', 60), s.framing ? h('span', { class: 'muted' }, ` framing ${s.framing}`) : null), h('span', { class: 'num muted' }, s.outcome === 'fault' ? '' : duration(s.duration_ms)), s.outcome === 'fault' ? null : cost(s.cost_usd)),
        s.reason ? h('p', { class: 'note' }, ...inked(s.reason.slice(0, 2000))) : null,
        facts([
          ['model', s.model && s.model !== s.voter ? line(s.model, 80) : ''],
          ['temperature', s.temperature ?? ''],
          ['tokens', s.tokens ? `${thousands(s.tokens.input)} in, ${thousands(s.tokens.output)} out` : ''],
          ['question', questions > 1 ? line(s.question, 120) : ''],
          ['repaired', s.repaired ? 'its text had to be repaired to be read' : ''],
        ]),
        s.intent ? block(pretty(s.intent), { label: 'proposed call' }) : null,
        s.text !== undefined ? value(run, s.text, 'what it said') : null,
      ),
    );
  });
  return h('section', null, h('h3', null, `Who voted what (${count(list.length, 'sample')})`), h('ul', { class: 'samples' }, rows), list.length > 300 ? h('p', { class: 'muted' }, `and ${count(list.length - 300, 'more sample')}`) : null);
}

/** @param {string | undefined} asked */
function prompt(asked) {
  if (!asked) return null;
  return h('section', null, h('details', null, h('summary', null, 'What was asked'), block(asked, { label: 'prompt' })));
}
