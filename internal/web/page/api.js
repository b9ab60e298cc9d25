// The server, as the page speaks with it.

/** Problem is an answer of the server that says what is wrong. */
export class Problem extends Error {
  /**
   * @param {string} title
   * @param {number} status of HTTP; 0 if there was no answer
   * @param {string} [detail]
   * @param {string} [field] that is to blame
   */
  constructor(title, status, detail, field) {
    super(detail || title);
    this.title = title;
    this.status = status;
    this.detail = detail ?? '';
    this.field = field ?? '';
  }
}

/**
 * ask sends a request and returns what the server says, or throws a Problem.
 *
 * @param {string} method
 * @param {string} path below /api
 * @param {unknown} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function ask(method, path, body, signal) {
  /** @type {RequestInit} */
  const init = { method, headers: { Accept: 'application/json' }, credentials: 'same-origin' };
  if (signal) init.signal = signal;
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...init.headers, 'Content-Type': 'application/json' };
  }
  /** @type {Response} */
  let answer;
  try {
    answer = await fetch('/api' + path, init);
  } catch (err) {
    if (signal?.aborted) throw err;
    connection('lost');
    throw new Problem('The server does not answer', 0, 'The server does not answer. It may have been stopped: the page goes on when it is back.');
  }
  if (answer.ok) connection('up');
  else if (answer.status === 401) connection('over');
  if (answer.status === 204) return undefined;
  const text = await answer.text();
  /** @type {any} */
  let said;
  try {
    said = JSON.parse(text);
  } catch {
    said = undefined;
  }
  if (answer.ok && said !== undefined) return said;
  throw new Problem(said?.title ?? answer.statusText, answer.status, said?.detail ?? text.slice(0, 500), said?.field);
}

/**
 * @param {string} path
 * @param {Record<string, string | number | undefined | null>} [query]
 * @param {AbortSignal} [signal]
 */
export function get(path, query = {}, signal) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') q.set(name, String(value));
  }
  const tail = q.toString();
  return ask('GET', path + (tail ? '?' + tail : ''), undefined, signal);
}

/**
 * @param {string} path
 * @param {unknown} [body]
 */
export const post = (path, body = {}) => ask('POST', path, body);

/** @param {string} path */
export const remove = (path) => ask('DELETE', path);

/**
 * of is the path of a run.
 *
 * @param {string} run
 * @param {...(string | number)} more
 */
export const of = (run, ...more) => ['/runs', ...[run, ...more].map((p) => encodeURIComponent(p))].join('/');

// The longest wait before a lost connection is tried again.
const longestWait = 15_000;

/**
 * Connection is how the page stands with the server: a session that is over, as all are after a
 * restart, needs a person, and one that is lost comes back by itself.
 *
 * @typedef {'up' | 'lost' | 'over'} Connection
 */

/** @type {Set<(now: Connection, seen: number) => void>} */
const watchers = new Set();
/** @type {Connection} */
let stands = 'up';
let seen = Date.now(); // when the server last answered

/**
 * onConnection tells when the connection is lost, when the session is over and when both are
 * back, and when the server was last seen. It returns what ends that.
 *
 * @param {(now: Connection, seen: number) => void} f
 */
export function onConnection(f) {
  watchers.add(f);
  return () => void watchers.delete(f);
}

/** @param {Connection} now */
function connection(now) {
  if (now === 'up') seen = Date.now();
  if (now === stands) return;
  stands = now;
  for (const f of [...watchers]) f(now, seen);
}

/** look finds out how the page stands with the server; asking tells. */
export const look = () => get('/me').then(() => {}, () => {});

/**
 * follow hears server-sent events until it is closed, whatever happens to the connection. A
 * page that nobody looks at lets go of it, because a browser has few for each server; then
 * and after a failure it goes on behind the last event that it heard.
 *
 * The server says when there will be no more.
 *
 * @param {string} path below /api
 * @param {{heard: (data: any, id: string) => void, opened?: () => void, ended?: (next: number) => void, from?: number}} o
 * @returns {{close: () => void}}
 */
export function follow(path, o) {
  /** @type {EventSource | null} */
  let source = null;
  let next = o.from;
  let wait = 500;
  let over = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  function open() {
    clearTimeout(timer);
    source?.close();
    const es = new EventSource('/api' + path + (next === undefined ? '' : `?from=${next}`));
    source = es;
    es.onopen = () => {
      wait = 500;
      connection('up');
      o.opened?.();
    };
    const hear = (/** @type {MessageEvent} */ e) => {
      if (e.lastEventId !== '' && next !== undefined) next = Number(e.lastEventId) + 1;
      /** @type {any} */
      let data;
      try {
        data = JSON.parse(e.data);
      } catch {
        return; // what cannot be read is passed over, as unknown events are
      }
      o.heard(data, e.lastEventId);
    };
    es.onmessage = hear;
    es.addEventListener('removed', hear); // a run that is gone
    es.addEventListener('end', () => {
      over = true;
      es.close();
      o.ended?.(next ?? 0);
    });
    es.onerror = () => {
      // The browser itself tries again with Last-Event-ID, unless the server refused. A run
      // that has ended has no more to say, which is no loss.
      void look();
      if (es.readyState !== EventSource.CLOSED) return;
      clearTimeout(timer);
      // Without a session there is no use in trying: it goes on when there is one.
      timer = setTimeout(() => stands !== 'over' && open(), wait);
      wait = Math.min(2 * wait, longestWait);
    };
  }
  function visible() {
    if (document.hidden) {
      clearTimeout(timer);
      source?.close();
      source = null;
    } else if (!source && !over) {
      open();
    }
  }
  const unwatch = onConnection((now) => now === 'up' && source?.readyState === EventSource.CLOSED && !over && open());
  document.addEventListener('visibilitychange', visible);
  if (!document.hidden) open();
  return {
    close() {
      unwatch();
      document.removeEventListener('visibilitychange', visible);
      clearTimeout(timer);
      source?.close();
    },
  };
}
