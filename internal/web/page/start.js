// Start a run: a form for its kind and settings, with the command that does the same.

import { get, post } from './api.js';
import { button, debounced, fill, h } from './dom.js';
import { go, link } from './router.js';
import { problem } from './value.js';
import { line } from './text.js';

/**
 * @typedef {object} Setting a setting, or a parameter of a kind
 * @property {string} name
 * @property {string} [help]
 * @property {string} [type] number, duration, word, text, list, switch, object or answer
 * @property {string} [default]
 * @property {string[]} [choices]
 * @property {string} [group]
 * @property {boolean} [required]
 * @property {boolean} [needs_trust]
 */

/** @typedef {{name: string, title?: string, text?: string, params?: Setting[] | null, settings?: Setting[] | null}} Kind */

// What people set most often comes first, outside of the groups.
const usual = ['model', 'voting', 'ahead_by', 'max_usd'];

/**
 * typed is what a person wrote as the value that a setting wants. What is none is left as it
 * is for the server to complain about.
 *
 * @param {Setting} s
 * @param {string} text
 * @returns {unknown}
 */
export function typed(s, text) {
  switch (s.type) {
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
    case 'switch':
      return text === 'true';
    case 'list':
      return listed(s.name, text);
    case 'object':
    case 'answer':
      return json(text) ?? text;
  }
  return text;
}

/**
 * listed is a list that was written as JSON, or as one element a line.
 *
 * @param {string} name
 * @param {string} text
 */
function listed(name, text) {
  const whole = json(text);
  if (Array.isArray(whole)) return whole;
  const lines = text.split('\n').map((l) => l.trim()).filter((l) => l !== '');
  return lines.map((l) => {
    const object = json(l);
    if (object && typeof object === 'object') return object;
    return name === 'questions' ? { prompt: l } : l;
  });
}

/** @param {string} text */
function json(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * grouped are settings by their groups, in the order in which these come first.
 *
 * @param {Setting[]} settings
 */
export function grouped(settings) {
  /** @type {Map<string, Setting[]>} */
  const groups = new Map();
  for (const s of settings) groups.set(s.group || 'Other', [...(groups.get(s.group || 'Other') ?? []), s]);
  return groups;
}

/**
 * start is the view.
 *
 * @param {import('./router.js').Place} place
 */
export function start(place) {
  /** @type {Kind[]} */
  let kinds = [];
  /** @type {Kind | undefined} */
  let kind;
  /** @type {Map<string, {setting: Setting, control: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement, param: boolean}>} */
  const controls = new Map();

  const says = h('div', { 'aria-live': 'polite' });
  const form = h('form', { class: 'card start', novalidate: true, onsubmit: (e) => { e.preventDefault(); void submit(); } }, h('p', { class: 'muted' }, 'Loading…'));
  const command = h('pre', { class: 'block', tabindex: '0', role: 'region', 'aria-label': 'Command' });
  const copied = h('span', { class: 'muted', role: 'status' });
  const copy = button('Copy', async () => {
    try {
      await navigator.clipboard.writeText(command.textContent ?? '');
      copied.textContent = 'Copied';
    } catch {
      getSelection()?.selectAllChildren(command);
      copied.textContent = 'Selected: copy it with the keyboard';
    }
    setTimeout(() => fill(copied), 3000);
  });
  const aside = h('aside', { class: 'card command', 'aria-label': 'The same on the command line' }, h('div', { class: 'bar' }, h('h2', null, 'The same on the command line'), h('div', { class: 'tools' }, copied, copy)), command);
  const task = h('textarea', { id: 'task', rows: 5, oninput: () => preview() });
  const kindBox = h('select', { id: 'kind', onchange: () => choose(kindBox.value) });
  const go1 = h('button', { type: 'submit', class: 'primary' }, 'Start');
  const el = h('div', { class: 'page' }, h('div', { class: 'bar' }, h('h1', null, 'New run')), h('div', { class: 'columns' }, form, aside));

  /** @returns {{kind: string, task: string, settings: Record<string, unknown>, params: Record<string, unknown>}} */
  function body() {
    /** @type {Record<string, unknown>} */
    const settings = {};
    /** @type {Record<string, unknown>} */
    const params = {};
    for (const [name, { setting, control, param }] of controls) {
      const empty = control.value === '';
      if (empty) continue;
      (param ? params : settings)[name] = typed(setting, control.value);
    }
    return { kind: kind?.name ?? '', task: task.value, settings, params };
  }
  /** missing is the first field that has to be filled in and is not. */
  function missing() {
    if (kind?.text && task.value.trim() === '') return task;
    return [...controls.values()].find((c) => c.setting.required && c.control.value.trim() === '')?.control;
  }
  let asked = 0;
  const preview = debounced(150, async () => {
    const mine = ++asked;
    if (missing()) {
      fill(command, h('span', { class: 'muted' }, 'Fill in the form to see it.'));
      copy.disabled = true;
      return complain(null);
    }
    try {
      const said = await post('/preview', body());
      if (mine !== asked) return; // an answer to a later question is under way
      command.textContent = said.command;
      copy.disabled = false;
      complain(null);
    } catch (err) {
      if (mine === asked) complain(err);
    }
  });
  async function submit() {
    go1.disabled = true;
    try {
      const said = await post('/runs', body());
      go(link(['runs', said.run.run]));
    } catch (err) {
      complain(err, true);
    } finally {
      go1.disabled = false;
    }
  }
  /**
   * complain shows a problem, at the field that is to blame if it is here.
   *
   * @param {unknown} err
   * @param {boolean} [loud]
   */
  function complain(err, loud) {
    for (const bad of form.querySelectorAll('[aria-invalid]')) bad.removeAttribute('aria-invalid');
    const field = String(/** @type {any} */ (err)?.field ?? '').replace(/^(settings|params)\.([^.[]*).*$/, '$2');
    const control = field === 'task' ? task : controls.get(field)?.control;
    control?.setAttribute('aria-invalid', 'true');
    fill(says, err ? problem(err) : null);
    if (loud && control) {
      control.closest('details')?.setAttribute('open', '');
      control.focus();
    }
  }

  /** @param {string} name */
  function choose(name) {
    const kept = new Map([...controls].map(([n, c]) => [n, c.control.value]));
    kind = kinds.find((k) => k.name === name) ?? kinds[0];
    if (!kind) return;
    kindBox.value = kind.name;
    controls.clear();
    const settings = kind.settings ?? [];
    const first = usual.map((n) => settings.find((s) => s.name === n)).filter((s) => s !== undefined);
    const rest = grouped(settings.filter((s) => !usual.includes(s.name)));
    fill(
      form,
      h('div', { class: 'field' }, h('label', { for: 'kind' }, 'Kind'), kindBox, kind.title ? h('p', { class: 'hint' }, kind.title) : null),
      kind.text ? h('div', { class: 'field' }, h('label', { for: 'task' }, 'Task'), task, h('p', { class: 'hint' }, kind.text)) : null,
      (kind.params ?? []).map((s) => control(s, kept, true)),
      h('div', { class: 'grid' }, first.map((s) => control(s, kept, false))),
      [...rest].map(([group, list]) => h('details', { class: 'group', open: list.some((s) => kept.get(s.name)) }, h('summary', null, group, h('span', { class: 'muted num' }, ` ${list.length}`)), h('div', { class: 'grid' }, list.map((s) => control(s, kept, false))))),
      says,
      h('div', { class: 'submit' }, go1, h('a', { href: '#/' }, 'Cancel')),
    );
    preview();
  }

  /**
   * @param {Setting} s
   * @param {Map<string, string>} kept what was there before
   * @param {boolean} param
   */
  function control(s, kept, param) {
    const id = `set-${s.name}`;
    const def = s.default ? line(s.default, 80) : '';
    const yesNo = s.type === 'switch';
    const choices = yesNo ? ['true', 'false'] : s.choices;
    const long = s.type === 'list' || s.type === 'object' || s.type === 'answer';
    const common = { id, placeholder: long && param ? (s.type === 'list' ? 'one a line, or JSON' : 'JSON') : def, autocomplete: 'off', spellcheck: 'false', required: s.required ?? false, oninput: () => preview(), 'aria-describedby': s.help ? `${id}-help` : null };
    const box = choices?.length
      ? h('select', { id, onchange: () => preview(), 'aria-describedby': s.help ? `${id}-help` : null }, h('option', { value: '' }, def ? `default: ${def}` : 'default'), choices.map((c) => h('option', { value: c }, yesNo ? (c === 'true' ? 'yes' : 'no') : c)))
      : long
        ? h('textarea', { rows: param && s.required ? 4 : 2, ...common })
        : h('input', { type: 'text', inputmode: s.type === 'number' ? 'decimal' : null, ...common });
    box.value = kept.get(s.name) ?? '';
    controls.set(s.name, { setting: s, control: box, param });
    return h('div', { class: 'field' }, h('label', { for: id }, s.name.replaceAll('_', ' '), s.required ? h('span', { class: 'muted' }, ' required') : null), box, s.help ? h('p', { class: 'hint', id: `${id}-help` }, line(s.help, 300)) : null);
  }

  async function load() {
    try {
      const said = await get('/kinds');
      kinds = said.kinds ?? [];
      fill(kindBox, kinds.map((k) => h('option', { value: k.name }, k.name)));
      choose(place.query.get('kind') ?? 'run');
    } catch (err) {
      fill(form, problem(err));
    }
  }
  void load();
  return { el, title: 'New run', keys: {}, close() {} };
}
