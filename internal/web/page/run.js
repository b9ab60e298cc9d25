// A run: how it stands, what it waits for, its margins, its steps and all that it did.

import { follow, get, of, post, remove } from './api.js';
import { asked, waiting } from './person.js';
import { button, fill, h, paced } from './dom.js';
import { certificate } from './certificate.js';
import { confirm, prompt } from './dialog.js';
import { effectList } from './effects.js';
import { facts, problem, ruleWords } from './value.js';
import { go, link } from './router.js';
import { left, pace } from './rate.js';
import { log } from './log.js';
import { progress, state } from './list.js';
import { records } from './table.js';
import { shape, shapeNames } from './shape.js';
import { stepList, stepView } from './steps.js';
import { strip } from './strip.js';
import { block, count, dollars, duration, inked, line, moment, pretty, thousands } from './text.js';

/** @typedef {import('./types.js').Summary} Summary */
/** @typedef {{el: HTMLElement, reload: () => void, close: () => void}} Part */

/**
 * @typedef {object} Overview
 * @property {Summary} summary
 * @property {string} form
 * @property {import('./types.js').Rule} rule
 * @property {any} progress
 * @property {import('./types.js').Question[] | null} waiting
 * @property {any} certificate
 * @property {any} config
 * @property {string[] | null} actions
 * @property {number} next_event the number of the one that will be logged next
 */

/**
 * rangeOf is the range of steps that an address names.
 *
 * @param {URLSearchParams} q
 */
export function rangeOf(q) {
  const from = Number(q.get('from'));
  const to = Number(q.get('to'));
  return Number.isInteger(from) && Number.isInteger(to) && from >= 0 && to > from ? { from, to } : null;
}

/**
 * tabsOf are the views that a run has, by the form of its steps.
 *
 * @param {string} form
 * @returns {[string, string][]}
 */
export function tabsOf(form) {
  /** @type {[string, string][]} */
  const tabs = [['', 'Steps']];
  const name = shapeNames[form];
  if (name) tabs.push(['shape', name]);
  if (form === 'records') tabs.push(['records', 'Records']);
  if (form !== 'chain' && form !== 'records') tabs.push(['effects', 'Calls'], ['questions', 'Questions']);
  return [...tabs, ['certificate', 'Certificate'], ['settings', 'Settings'], ['log', 'Log']];
}

/**
 * run is the view. It stays while one moves about in the same run.
 *
 * @param {import('./router.js').Place} first
 */
export function run(first) {
  const id = first.path[1] ?? '';
  let place = first;
  /** @type {Overview | null} */
  let now = null;
  const speed = pace();

  const title = h('h1', null, line(id, 100));
  const meta = h('div', { class: 'meta' });
  const bar = h('div', { class: 'pacing' });
  const actions = h('div', { class: 'tools', role: 'group', 'aria-label': 'What can be done with the run' });
  const says = h('div', { 'aria-live': 'polite' });
  const tabs = h('nav', { class: 'tabs', 'aria-label': 'Views of the run' });
  const body = h('div', { class: 'body' });
  const person = waiting(id, { changed: () => load.ask(), running: () => Boolean(now?.summary.pid) });
  const heat = strip(id, {
    open: (n) => go(link(['runs', id, 'step', n], rangeOf(place.query) ?? {})),
    zoom: (r) => go(link(place.path, r ?? {})),
  });
  const steps = stepList(id, heat.drawn);
  /** @type {ReturnType<typeof stepView> | null} */
  let one = null;
  /** @type {Part | null} */
  let part = null;
  let partName = '';
  const el = h('div', { class: 'page run' }, h('div', { class: 'bar top' }, h('div', { class: 'name' }, title, meta), actions), bar, says, person.el, heat.el, tabs, body);

  const load = paced(700, async () => {
    try {
      const said = /** @type {Overview} */ (await get(of(id)));
      const grown = said.summary.steps_completed !== now?.summary.steps_completed || said.summary.state !== now?.summary.state;
      const before = now;
      now = said;
      if (said.summary.state === 'running') speed.saw(said.summary.steps_completed, Date.now());
      else speed.rests();
      draw();
      fill(says);
      if (before && grown) {
        heat.reload();
        steps.reload();
        one?.reload();
      }
      if (part && partName !== 'records' && partName !== 'certificate') part.reload();
      if (grown) void unsettled();
    } catch (err) {
      fill(says, problem(err));
      if (/** @type {any} */ (err)?.status === 404) heat.el.hidden = true;
    }
  });

  /** unsettled finds the steps without a result, which the index does not have. */
  async function unsettled() {
    const s = now?.summary;
    if (!s || !['undecided', 'failed', 'waiting', 'stopped'].includes(s.state)) return steps.open([]);
    if (now?.form === 'chain') { // where it is the one behind those that are done
      return steps.open(s.state === 'undecided' || s.state === 'failed' ? [{ step: s.steps_completed, status: s.state, voting: null }] : []);
    }
    if (now?.form === 'records') { // there may be many, which the records list
      const said = await get(of(id, 'records'), { status: 'undecided', limit: 20 }).catch(() => ({}));
      return steps.open((said.records ?? []).map((/** @type {any} */ r) => ({ step: r.number, status: r.status, reason: r.reason, voting: r.voting })));
    }
    const result = await get(of(id, 'result')).catch(() => ({}));
    steps.open(result.unsettled ?? []);
  }

  function draw() {
    if (!now) return;
    const s = now.summary;
    title.textContent = line(s.task, 240) || line(id, 100);
    fill(
      meta,
      state(s.state),
      h('span', null, s.kind),
      h('span', { title: line(s.model, 300) }, line(s.model, 48)),
      s.simulated ? h('span', { class: 'tag', title: 'no real model answered' }, 'simulated') : null,
      h('span', null, ruleWords(now.rule)),
      h('span', { class: 'num' }, dollars(s.total_cost_usd)),
      s.owner ? h('span', null, `of ${line(s.owner, 40)}`) : null,
      h('span', { class: 'mono muted' }, line(id, 80)),
    );
    // Requests of a session come when they come: how fast they are is no pace of the run.
    const rate = s.state === 'running' && s.kind !== 'session' ? speed.rate() || (now.progress?.steps_per_second ?? 0) : 0;
    const eta = left(s.steps_completed, s.steps_total, rate);
    const p = now.progress;
    const took = p?.elapsed_ms ?? Date.parse(s.updated) - Date.parse(s.started);
    fill(
      bar,
      progress(s.steps_completed, s.steps_total),
      rate > 0 ? h('span', { class: 'num' }, `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} steps/s`) : null,
      eta !== null && s.state === 'running' ? h('span', { class: 'num' }, `about ${duration(eta)} left`) : null,
      h('span', { class: 'muted num' }, took >= 0 ? `${s.state === 'running' ? 'for' : 'took'} ${duration(took)}` : ''),
      h('span', { class: 'muted' }, 'last event ', moment(s.updated)),
      p?.contested ? h('span', { class: 'muted num' }, `${thousands(p.contested)} contested`) : null,
      p?.red_flagged ? h('span', { class: 'muted num' }, `${thousands(p.red_flagged)} discarded`) : null,
      p?.faults ? h('span', { class: 'muted num' }, count(p.faults, 'fault')) : null,
      p?.limits?.usd ? h('span', { class: 'muted num' }, `of at most ${dollars(p.limits.usd)}`) : null,
      p?.trouble ? h('span', { class: 'tag bad' }, line(p.trouble, 160)) : null,
    );
    person.update(now.waiting ?? []);
    fill(actions, (now.actions ?? []).filter((a) => doing[a]).map((a) => button(doing[a]?.label ?? a, () => void act(a), { class: doing[a]?.danger ? 'danger' : null })));
    document.title = `${s.state === 'waiting' ? '● ' : ''}${line(s.task, 40)} · ${s.state} · maker`;
    drawTabs();
  }

  function drawTabs() {
    const section = place.path[2] === 'step' ? '' : (place.path[2] ?? '');
    const focused = tabs.contains(document.activeElement) ? document.activeElement?.getAttribute('href') : null;
    fill(tabs, tabsOf(now?.form ?? 'chain').map(([name, label]) => h('a', { href: link(name ? ['runs', id, name] : ['runs', id]), 'aria-current': name === section ? 'page' : null }, label)));
    if (focused) /** @type {HTMLElement | null} */ (tabs.querySelector(`[href="${CSS.escape(focused)}"]`))?.focus();
    show(section);
  }

  /** @param {string} section */
  function show(section) {
    if (section === 'settings') return drawSettings();
    if (section !== partName || (section === '' && !steps.el.isConnected)) {
      part?.close();
      part = null;
      partName = section;
      part = made(section);
      fill(body, section === '' ? h('div', { class: 'columns' }, h('div', null, steps.el), h('div', { class: 'one' })) : (part?.el ?? h('p', { class: 'empty' }, 'There is no such view.')));
      part?.reload();
    }
    if (section === 'records') /** @type {ReturnType<typeof records>} */ (part).place(place.query);
    const n = place.path[2] === 'step' ? Number(place.path[3]) : -1;
    const range = rangeOf(place.query);
    if (section === '') {
      const slot = body.querySelector('.one');
      if (one?.step !== n && one) {
        one.close();
        one.el.remove();
        one = null;
      }
      body.firstElementChild?.classList.toggle('has-one', n >= 0); // which says where it stands
      if (n >= 0 && !one) {
        one = stepView(id, n, { back: link(['runs', id], range ?? {}) });
        if (slot) fill(slot, one.el);
        one.focus();
        if (innerWidth < 1100) one.el.scrollIntoView({ block: 'start' });
      } else if (one && slot && !one.el.isConnected) {
        fill(slot, one.el);
      }
    }
    heat.update({ range, selected: n });
    steps.update({ range, selected: n });
  }

  /**
   * @param {string} section
   * @returns {Part | null}
   */
  function made(section) {
    switch (section) {
      case 'shape':
        return shape(id);
      case 'records':
        return records(id);
      case 'effects':
        return effectList(id);
      case 'certificate':
        return certificate(id);
      case 'questions':
        return questions();
      case 'log':
        return followed();
    }
    return null;
  }

  /** @returns {Part} */
  function questions() {
    const el = h('section', { 'aria-label': 'Questions' });
    let known = '';
    const reload = async () => {
      try {
        const said = await get(of(id, 'questions'));
        const text = JSON.stringify(said);
        if (text !== known) fill(el, asked(said.questions ?? said ?? []));
        known = text;
      } catch (err) {
        fill(el, problem(err));
      }
    };
    return { el, reload: () => void reload(), close() {} };
  }

  /** @returns {Part} the log, followed from a little before its end */
  function followed() {
    const view = log(id);
    /** @type {{close: () => void} | null} */
    let live = null;
    let from = -1;
    function reload() {
      if (live || !now) return;
      if (from < 0) from = Math.max(0, now.next_event - 100);
      if (from >= now.next_event && now.summary.state !== 'running') return; // there is nothing to hear
      live = follow(of(id, 'events'), {
        from,
        heard: (e) => view.add(e),
        ended: (next) => {
          live = null;
          from = next;
        },
      });
    }
    return { el: view.el, reload, close: () => live?.close() };
  }

  function drawSettings() {
    if (partName === 'settings' || !now) return;
    part?.close();
    part = null;
    partName = 'settings';
    const s = now.summary;
    fill(
      body,
      h(
        'section',
        { class: 'card', 'aria-label': 'Settings' },
        h('div', { class: 'bar' }, h('h2', null, 'Settings')),
        facts([
          ['run', h('code', null, ...inked(id))],
          ['kind', `${s.kind} (${now.form})`],
          ['model', line(s.model, 300)],
          ['rule', ruleWords(now.rule)],
          ['begun', new Date(s.started).toLocaleString()],
          ['process', s.pid ? String(s.pid) : ''],
        ]),
        h('h3', null, 'Task'),
        block(s.task, { label: 'task' }),
        h('h3', null, 'Configuration'),
        block(pretty(now.config), { label: 'configuration', first: 20_000 }),
      ),
    );
  }

  const name = line(id, 80);
  /** @type {Record<string, {label: string, danger?: boolean, ask: () => Promise<unknown>}>} */
  const doing = {
    pause: { label: 'Pause', ask: async () => (await confirm(`Pause the run ${name}?`, 'Its calls in flight are given up; what is committed is kept. It goes on with Resume.', 'Pause')) && post(of(id, 'pause')) },
    resume: {
      label: 'Resume',
      ask: async () => {
        const more = await prompt(`Resume the run ${name}?`, 'It goes on after the last committed step. A limit that stopped it has to be larger now.', 'Resume', ['max_usd', 'max_calls', 'max_tokens', 'deadline']);
        return more && post(of(id, 'resume'), { settings: more });
      },
    },
    cancel: { label: 'Cancel', danger: true, ask: async () => (await confirm(`Cancel the run ${name}?`, 'Its calls in flight are given up; what is committed is kept.', 'Cancel the run', true)) && post(of(id, 'cancel')) },
    delete: {
      label: 'Remove',
      danger: true,
      ask: async () => {
        if (!(await confirm(`Remove the run ${name}?`, 'Its folder with all that it logged is deleted. This cannot be undone.', 'Remove for good', true))) return;
        await remove(of(id));
        go('#/');
      },
    },
  };
  /** @param {string} name */
  async function act(name) {
    try {
      const said = await doing[name]?.ask();
      if (said) load.ask();
      fill(says);
    } catch (err) {
      fill(says, problem(err));
    }
  }

  const live = follow('/events', { heard: (s) => s.run === id && load.ask(), opened: () => load.ask() });
  load.ask();
  drawTabs();

  /** @param {number} by */
  const neighbour = (by) => one && go(link(['runs', id, 'step', Math.max(0, one.step + by)], rangeOf(place.query) ?? {}));
  return {
    el,
    title: line(id, 60),
    id,
    keys: /** @type {Record<string, () => void>} */ ({
      j: () => steps.move(1),
      k: () => steps.move(-1),
      ']': () => neighbour(1),
      '[': () => neighbour(-1),
      Escape: () => go(place.path[2] ? link(['runs', id], rangeOf(place.query) ?? {}) : '#/'),
      w: () => person.focus(),
      s: () => /** @type {HTMLElement | null} */ (heat.el.querySelector('[role=application]'))?.focus(),
      '/': () => (partName === 'records' ? /** @type {ReturnType<typeof records>} */ (part).search() : go('#/')),
    }),
    /** @param {import('./router.js').Place} to */
    place(to) {
      place = to;
      drawTabs();
    },
    close() {
      live.close();
      load.stop();
      heat.close();
      steps.close();
      one?.close();
      part?.close();
    },
  };
}
