// Dialogs: what is asked before something is ended, and the help.

import { fill, h } from './dom.js';

/**
 * open shows a dialog until it is closed, and says what it was closed with. It asks about what
 * is shown, so that it ends with nothing once the page goes elsewhere.
 *
 * @param {import('./dom.js').Child[]} children
 * @returns {Promise<string>}
 */
function open(children) {
  const box = h('dialog', null, h('form', { method: 'dialog' }, children));
  document.body.append(box);
  return new Promise((resolve) => {
    const leave = () => box.close('');
    addEventListener('hashchange', leave);
    box.addEventListener('close', () => {
      removeEventListener('hashchange', leave);
      box.remove();
      resolve(box.returnValue);
    });
    box.showModal();
  });
}

/**
 * confirm asks whether something is to be done.
 *
 * @param {string} title
 * @param {string} text
 * @param {string} yes
 * @param {boolean} [danger]
 */
export async function confirm(title, text, yes, danger) {
  const said = await open([
    h('h2', null, title),
    h('p', null, text),
    h('div', { class: 'tools' }, h('button', { value: '', autofocus: danger ?? false }, 'Back'), h('button', { value: 'yes', class: danger ? 'danger solid' : 'primary', autofocus: !danger }, yes)),
  ]);
  return said === 'yes';
}

/**
 * prompt asks for some settings; null if the person thought better of it.
 *
 * @param {string} title
 * @param {string} text
 * @param {string} yes
 * @param {string[]} names
 * @returns {Promise<Record<string, string | number> | null>}
 */
export async function prompt(title, text, yes, names) {
  const inputs = names.map((name) => h('input', { type: 'text', id: `ask-${name}`, name, autocomplete: 'off' }));
  const said = await open([
    h('h2', null, title),
    h('p', null, text),
    h('div', { class: 'grid' }, names.map((name, i) => h('div', { class: 'field' }, h('label', { for: `ask-${name}` }, name.replaceAll('_', ' ')), inputs[i]))),
    h('div', { class: 'tools' }, h('button', { value: '' }, 'Back'), h('button', { value: 'yes', class: 'primary', autofocus: true }, yes)),
  ]);
  if (said !== 'yes') return null;
  /** @type {Record<string, string | number>} */
  const more = {};
  for (const input of inputs) {
    const text = input.value.trim();
    if (text !== '') more[input.name] = Number.isFinite(Number(text)) ? Number(text) : text;
  }
  return more;
}

const keys = [
  ['/', 'search'],
  ['j, k', 'next and previous run or step'],
  ['Enter', 'open'],
  ['[, ]', 'step before, next step'],
  ['w', 'to what waits for you'],
  ['s', 'to the strip: arrows move, + and − zoom, 0 shows all, n and p find contested steps, Enter comes closer'],
  ['Esc', 'back'],
  ['n', 'new run, in the list'],
  ['g', 'to the list of runs'],
  ['t', 'dark or light'],
  ['?', 'this help'],
];

/** help lists the keys. */
export function help() {
  const list = h('dl', { class: 'keys' });
  fill(list, keys.map(([key = '', what = '']) => h('div', null, h('dt', null, h('kbd', null, key)), h('dd', null, what))));
  return open([h('h2', null, 'Keys'), list, h('div', { class: 'tools' }, h('button', { value: '', class: 'primary', autofocus: true }, 'Close'))]);
}
