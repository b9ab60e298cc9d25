// Elements are built here and nowhere else. Strings become text nodes, never markup, so
// that what models and tools wrote is shown and cannot run.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | EventListener>} Props */

const svgSpace = 'http://www.w3.org/2000/svg';

/**
 * h builds an element. A property that begins with "on" is a listener, `true` an attribute
 * without a value, and one that is false or absent is left out.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props, ...children) {
  const el = document.createElement(tag);
  dress(el, props);
  el.append(...nodes(children));
  return el;
}

/**
 * s builds an element of SVG.
 *
 * @param {string} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function s(tag, props, ...children) {
  const el = /** @type {SVGElement} */ (document.createElementNS(svgSpace, tag));
  dress(el, props);
  el.append(...nodes(children));
  return el;
}

/**
 * @param {Element} el
 * @param {Props | null | undefined} props
 */
function dress(el, props) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === 'function') el.addEventListener(name.slice(2), value);
    else el.setAttribute(name, value === true ? '' : String(value));
  }
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {Node[]}
 */
function nodes(children) {
  const list = [];
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    list.push(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return list;
}

/**
 * fill replaces what is in an element.
 *
 * @template {Element} E
 * @param {E} el
 * @param {...(Child | Child[])} children
 * @returns {E}
 */
export function fill(el, ...children) {
  el.replaceChildren(...nodes(children));
  return el;
}

/**
 * button is one that does something and submits nothing.
 *
 * @param {Child | Child[]} label
 * @param {() => void} click
 * @param {Props} [props]
 */
export function button(label, click, props) {
  return h('button', { type: 'button', onclick: () => click(), ...props }, label);
}

/**
 * debounced calls f once nobody has asked for it for some time.
 *
 * @param {number} ms
 * @param {() => void} f
 */
export function debounced(ms, f) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(f, ms);
  };
}

/**
 * paced calls f at once, but never more often than this and never twice at a time. What was
 * asked for in between is one more call. It has nothing to do any more after stop.
 *
 * @param {number} ms
 * @param {() => Promise<void>} f
 */
export function paced(ms, f) {
  let busy = false;
  let again = false;
  let stopped = false;
  const go = async () => {
    if (busy || stopped) {
      again = true;
      return;
    }
    busy = true;
    again = false;
    await f();
    setTimeout(() => {
      busy = false;
      if (again) void go();
    }, ms);
  };
  return { ask: () => void go(), stop: () => { stopped = true; } };
}
