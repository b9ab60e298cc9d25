// The page: which view is shown, and what all of them have in common.

import { get, onConnection } from './api.js';
import { fill, h } from './dom.js';
import { help } from './dialog.js';
import { list } from './list.js';
import { go, read } from './router.js';
import { run } from './run.js';
import { start } from './start.js';
import { count } from './text.js';

/**
 * @typedef {object} View
 * @property {HTMLElement} el
 * @property {string} title
 * @property {Record<string, () => void>} keys
 * @property {() => void} close
 * @property {string} [id] of the run that it shows
 * @property {(to: import('./router.js').Place) => void} [place]
 */

/** @param {string} id */
const byID = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @type {View | null} */
let view = null;

function show() {
  const place = read(location.hash);
  const [first = '', id] = place.path;
  if (first === 'runs' && id && view?.id === id) {
    view.place?.(place);
    return;
  }
  view?.close();
  view = first === 'runs' && id ? run(place) : first === 'start' ? start(place) : list(place);
  fill(byID('main'), view.el);
  document.title = `${view.title} · maker`;
  for (const a of document.querySelectorAll('header nav a')) {
    const current = a.getAttribute('href') === (first === 'start' ? '#/start' : '#/');
    if (current) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
  scrollTo(0, 0);
}

// Dark or light is what the system says, until somebody says otherwise.
function theme() {
  const kept = localStorage.getItem('theme');
  if (kept === 'dark' || kept === 'light') document.documentElement.dataset['theme'] = kept;
  else delete document.documentElement.dataset['theme'];
  document.dispatchEvent(new Event('theme'));
}

function toggle() {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const now = document.documentElement.dataset['theme'] ?? (dark ? 'dark' : 'light');
  localStorage.setItem('theme', now === 'dark' ? 'light' : 'dark');
  theme();
}

/** typing reports whether keys belong to what has the focus. */
function typing() {
  const at = document.activeElement;
  return at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement || document.querySelector('dialog[open]') !== null;
}

addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
  if (typing()) {
    if (e.key === 'Escape' && !document.querySelector('dialog[open]')) /** @type {HTMLElement} */ (document.activeElement).blur();
    return;
  }
  const act = view?.keys[e.key] ?? { '?': () => void help(), t: toggle, g: () => go('#/') }[e.key];
  if (!act) return;
  e.preventDefault();
  act();
});

// What waits for a person is told wherever one is.
let waited = 0;
async function waits() {
  try {
    const said = await get('/runs', { state: 'waiting', limit: 1 });
    const n = said.total ?? 0;
    const badge = byID('waits');
    badge.hidden = n === 0;
    badge.textContent = `${n} waiting`;
    badge.setAttribute('aria-label', `${count(n, 'run')} waiting for you`);
    if (n > waited) byID('told').textContent = `${count(n, 'run')} ${n === 1 ? 'waits' : 'wait'} for you`;
    if (n === 0) byID('told').textContent = '';
    waited = n;
  } catch {
    // what is wrong with the connection is said elsewhere, and this tries it again
  }
}

onConnection((now, seen) => {
  const up = now === 'up';
  const old = `What is shown is as of ${new Date(seen).toLocaleTimeString()}.`;
  const banner = byID('lost');
  if (now === 'lost') fill(banner, `The connection to the server is lost. ${old} Trying again…`);
  if (now === 'over') fill(banner, 'Your session is over; a restart of the server ends all of them. Run ', h('code', null, 'maker token link'), ` and open the link in this browser: this page then goes on. ${old}`);
  banner.hidden = up;
  byID('main').classList.toggle('old', !up);
  if (up) void waits();
});

/** @type {HTMLElement} */ (document.querySelector('.skip')).addEventListener('click', (e) => {
  e.preventDefault(); // the part behind # says where one is
  byID('main').focus();
});
byID('theme').addEventListener('click', toggle);
byID('help').addEventListener('click', () => void help());
addEventListener('hashchange', show);
theme();
show();
void waits();
setInterval(() => document.hidden || void waits(), 5_000);
