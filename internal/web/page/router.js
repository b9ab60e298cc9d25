// Where one is: the part of the address behind #, so that links can be shared and the back
// button works.

/** @typedef {{path: string[], query: URLSearchParams}} Place */

/**
 * read is the place that a hash names.
 *
 * @param {string} hash such as "#/runs/ID/step/12?from=3"
 * @returns {Place}
 */
export function read(hash) {
  const text = hash.replace(/^#\/?/, '');
  const [path = '', query = ''] = split(text, '?');
  return { path: path.split('/').filter((p) => p !== '').map(decoded), query: new URLSearchParams(query) };
}

/**
 * @param {string} text
 * @param {string} at
 */
function split(text, at) {
  const i = text.indexOf(at);
  return i < 0 ? [text] : [text.slice(0, i), text.slice(i + 1)];
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // somebody typed a % that begins no character
  }
}

/**
 * link is the hash of a place.
 *
 * @param {(string | number)[]} path
 * @param {Record<string, string | number | undefined | null>} [query] what is empty is left out
 */
export function link(path, query = {}) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') q.set(name, String(value));
  }
  const tail = q.toString();
  return '#/' + path.map((p) => encodeURIComponent(p)).join('/') + (tail ? '?' + tail : '');
}

/**
 * go leads to a place. One that takes the place of the present one leaves no trace in the
 * history.
 *
 * @param {string} hash
 * @param {{replace?: boolean}} [o]
 */
export function go(hash, o = {}) {
  if (hash === location.hash) return;
  if (!o.replace) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, '', hash);
  dispatchEvent(new HashChangeEvent('hashchange'));
}
