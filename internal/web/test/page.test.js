// The parts of the page that need no browser: node --test internal/web/test/page.test.js

import assert from 'node:assert/strict';
import test from 'node:test';

import { diff, lines, marked, words } from '../page/diff.js';
import { forest } from '../page/shape.js';
import { grouped, typed } from '../page/start.js';
import { cellOf, heat, moved, spanOf, words as cellWords, zoomed } from '../page/strip.js';
import { ballotKeys, lead, tally, unlike, votedFor } from '../page/steps.js';
import { layout } from '../page/graph.js';
import { left, pace } from '../page/rate.js';
import { line, visible, thousands, dollars, duration, percent, ago, brief, pretty } from '../page/text.js';
import { look, onConnection } from '../page/api.js';
import { link, read } from '../page/router.js';
import { boxes, plain, refOf, split } from '../page/value.js';
import { rangeOf, tabsOf } from '../page/run.js';
import { refusal } from '../page/person.js';
import { words as eventWords } from '../page/log.js';

test('what cannot be seen is shown as escapes', () => {
  for (const [text, want] of /** @type {[string, string][]} */ ([
    ['plain\ttext\nof lines', 'plain\ttext\nof lines'],
    ['\x1b[31mred\x1b[0m', '\\x1b[31mred\\x1b[0m'],
    ['a\rb\0', 'a\\rb\\x00'],
    ['safe\u202egnp.exe\u2066x\u2069', 'safe\\u202egnp.exe\\u2066x\\u2069'],
    ['zero\u200bwidth\u2060\ufeff', 'zero\\u200bwidth\\u2060\\ufeff'],
    ['soft\u00adhyphen', 'soft\\u00adhyphen'],
    ['line\u2028end', 'line\\u2028end'],
    ['tag \u{e0041}', 'tag \\U000e0041'],
    ['half \ud800', 'half \\ud800'],
    ['blank \u2800 \u3164', 'blank \\u2800 \\u3164'],
    ['ünï çödé 漢字 😀', 'ünï çödé 漢字 😀'],
    ['sun ☀\ufe0f', 'sun ☀\ufe0f'],
    ['x\ufe0f', 'x\\ufe0f'],
    ['e\u0301', 'e\u0301'],
    ['<script>', '<script>'],
  ])) {
    assert.equal(visible(text), want);
  }
  const zalgo = visible('a' + '\u0301'.repeat(10));
  assert.equal(zalgo, 'a' + '\u0301'.repeat(6) + '\\u0301'.repeat(4));
  assert.equal(visible('\u0301'), '\\u0301', 'a mark at the beginning');
});

test('a line is one line and short', () => {
  assert.equal(line('a\n  b\r\nc'), 'a b c');
  assert.equal(line('x'.repeat(50), 10), 'x'.repeat(10) + '…');
  assert.equal(line('😀'.repeat(50), 3), '😀😀😀…');
  assert.equal(line('y'.repeat(5_000_000), 5), 'yyyyy…');
  assert.equal(brief({ a: [1, 2] }), '{"a":[1,2]}');
  assert.equal(brief(null), '');
});

test('figures', () => {
  assert.equal(thousands(1048575), '1,048,575');
  assert.equal(thousands(999), '999');
  assert.equal(dollars(null), 'unknown');
  assert.equal(dollars(0), '$0');
  assert.equal(dollars(0.0005), '$0.00050');
  assert.equal(dollars(3e-8), '< $0.000001');
  assert.equal(dollars(1.2345), '$1.234');
  assert.equal(dollars(1234.5), '$1,234.50');
  assert.equal(duration(412), '412 ms');
  assert.equal(duration(61_000), '1 min 1 s');
  assert.equal(duration(59_700), '1 min 0 s');
  assert.equal(duration(90_000_000), '25 h 0 min');
  assert.equal(percent(1), '100 %');
  assert.equal(percent(0.99999), '99.9990 %');
  assert.equal(percent(0.5), '50.0 %');
  assert.equal(percent(1e-12), '< 0.0000001 %');
  assert.equal(ago('2026-01-01T00:00:00Z', Date.parse('2026-01-01T00:05:10Z')), '5 min ago');
  assert.equal(ago('0001-01-01T00:00:00Z'), '');
});

/** @param {import('../page/diff.js').Part[]} parts */
const before = (parts) => parts.filter((p) => p.kind !== 'add').map((p) => p.text).join('');
/** @param {import('../page/diff.js').Part[]} parts */
const after = (parts) => parts.filter((p) => p.kind !== 'del').map((p) => p.text).join('');

test('a difference has both texts in it, and no more than it needs', () => {
  const parts = words('total: 14, all', 'total: 15, all');
  assert.deepEqual(parts, [
    { kind: 'same', text: 'total: ' },
    { kind: 'del', text: '14' },
    { kind: 'add', text: '15' },
    { kind: 'same', text: ', all' },
  ]);
  assert.deepEqual(diff([], []), []);
  assert.deepEqual(words('same', 'same'), [{ kind: 'same', text: 'same' }]);
  let seed = 7;
  const random = (/** @type {number} */ n) => (seed = (seed * 48271) % 2147483647) % n;
  for (let i = 0; i < 500; i++) {
    const text = () => Array.from({ length: random(12) }, () => 'ab c\n'[random(5)]).join('');
    const [a, b] = [text(), text()];
    const d = words(a, b);
    assert.equal(before(d), a);
    assert.equal(after(d), b);
  }
});

test('lines that were replaced are compared by words, and what is far away is left out', () => {
  const a = Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n');
  const rows = lines(a, a.replace('line 15', 'line x'), 2);
  assert.deepEqual(rows.map((r) => r.kind), ['gap', 'same', 'same', 'del', 'add', 'same', 'same', 'gap']);
  assert.deepEqual(rows[3]?.parts, [{ kind: 'same', text: 'line ' }, { kind: 'del', text: '15' }]);
  assert.equal(rows[0]?.parts[0]?.text, '13 lines the same');
});

test('texts that are too long to be compared in full are compared coarsely', () => {
  const a = Array.from({ length: 5000 }, (_, i) => `a${i}`).join('\n');
  const b = Array.from({ length: 5000 }, (_, i) => `b${i}`).join('\n');
  const begun = performance.now();
  const rows = lines(a + '\nend', b + '\nend');
  assert.ok(performance.now() - begun < 3000, 'it takes too long');
  assert.equal(rows.filter((r) => r.kind === 'del').length, 5000);
});

test('the change of a file is read, whatever its lines look like', () => {
  const rows = marked('  [… 3 lines as they are …]\n  same\n- - old heading\n+ + new heading\n  ');
  assert.deepEqual(rows.map((r) => [r.kind, r.parts.map((p) => p.text).join('')]), [
    ['gap', '[… 3 lines as they are …]'],
    ['same', 'same'],
    ['del', '- old heading'],
    ['add', '+ new heading'],
    ['same', ''],
  ]);
  assert.deepEqual(rows[2]?.parts.filter((p) => p.kind === 'del').map((p) => p.text), ['-', 'old']);
  assert.deepEqual(marked('(nothing changes)').map((r) => r.kind), ['gap']);
});

test('an address names a place, and a place an address', () => {
  assert.deepEqual(read('#/runs/a%20b/step/12?from=3&to=9').path, ['runs', 'a b', 'step', '12']);
  assert.deepEqual(rangeOf(read('#/runs/x?from=3&to=9').query), { from: 3, to: 9 });
  for (const q of ['', '?from=9&to=3', '?from=-1&to=3', '?from=a&to=b', '?from=1.5&to=3']) assert.equal(rangeOf(read('#/runs/x' + q).query), null);
  assert.equal(link(['runs', 'a/../b', 'step', 12], { from: 0, to: 5, q: '' }), '#/runs/a%2F..%2Fb/step/12?from=0&to=5');
  assert.deepEqual(read(link(['runs', '%', 'é'])).path, ['runs', '%', 'é']);
  assert.deepEqual(read('#/runs/%zz').path, ['runs', '%zz']);
  assert.deepEqual(read('').path, []);
});

const cells = { from: 0, to: 10, steps: 10, total: 10, count: [4, 3, 3], margin: [3, 3, 1], lead: [1, 0.3, 0.1], contested: [0, 1, 2], flagged: [0, 2, 0] };

test('cells have all steps, each once', () => {
  assert.deepEqual([0, 1, 2].map((i) => spanOf(cells, i)), [{ from: 0, to: 4 }, { from: 4, to: 7 }, { from: 7, to: 10 }]);
  assert.equal(cellWords(cells, 0), 'steps 0 to 3: lowest margin 3, all voters agreed');
  assert.equal(cellWords(cells, 1), 'steps 4 to 6: lowest margin 3, 1 contested, won by 30 % of the votes at the closest, 2 discarded answers');
  assert.equal(cellWords({ ...cells, from: 5, to: 6, count: [1], margin: [2], lead: [0.5], contested: [1], flagged: [0] }, 0), 'step 5: margin 2, contested, won by 50 % of the votes');
  assert.equal(cellWords({ ...cells, count: [0, 0, 0] }, 0), 'steps 0 to 3: nothing yet');
});

test('heat grows as leads shrink', () => {
  assert.deepEqual([1, 0.7, 0.5, 0.3, 0.1].map((l) => heat(1, l)), [0, 1, 2, 3, 4]);
  assert.equal(heat(0, -1), -1);
});

test('a zoom stays within the run and keeps its place', () => {
  const all = { from: 0, to: 1000 };
  const at = (/** @type {number} */ from, to = from) => ({ from, to });
  assert.deepEqual(zoomed(all, 1000, 0.5, at(500)), { from: 250, to: 750 });
  assert.deepEqual(zoomed(all, 1000, 2, at(500)), all);
  assert.deepEqual(zoomed(all, 1000, 0.001, at(999, 1000)), { from: 988, to: 1000 }, 'the last step');
  assert.deepEqual(zoomed(all, 1000, 0.001, at(0, 1)), { from: 0, to: 12 }, 'the first step');
  assert.deepEqual(zoomed({ from: 0, to: 3 }, 3, 0.1, at(1, 2)), { from: 0, to: 3 });
  assert.deepEqual(zoomed(all, 1000, 1 / 16, at(300, 400)), { from: 300, to: 400 }, 'a cell that is wider than the window');
  assert.deepEqual(zoomed(at(990, 1000), 1000, 1, at(990, 1000)), { from: 988, to: 1000 }, 'a drag that is too narrow');
  assert.deepEqual(moved({ from: 10, to: 20 }, 25, 50), { from: 15, to: 25 });
  assert.deepEqual(moved({ from: 10, to: 20 }, 25, -50), { from: 0, to: 10 });
});

test('a zoom has the selected cell in it as a whole, and it stays selected', () => {
  /** @param {{from: number, to: number}} r @param {number} n @param {number} hot the step that is contested */
  const strip = (r, n, hot) => {
    const zeros = Array.from({ length: n }, () => 0);
    const s = { ...r, steps: r.to - r.from, total: r.to, count: zeros, margin: zeros, lead: zeros, contested: zeros, flagged: zeros };
    return { ...s, contested: zeros.map((_, i) => (spanOf(s, i).from <= hot && hot < spanOf(s, i).to ? 1 : 0)) };
  };
  const has = (/** @type {{from: number, to: number}} */ a, /** @type {{from: number, to: number}} */ b) => a.from <= b.from && b.to <= a.to;
  for (const whole of [{ from: 0, to: 100_003 }, { from: 1234, to: 5001 }, { from: 96_000, to: 100_003 }]) {
    const s = strip(whole, 333, -1);
    for (let i = 0; i < 333; i++) {
      const cell = spanOf(s, i);
      for (const factor of [1 / 16, 0.5, 2]) {
        const to = zoomed(s, 100_003, factor, cell);
        assert.ok(has({ from: 0, to: 100_003 }, to) && has(to, cell), `${JSON.stringify(to)} does not have ${JSON.stringify(cell)}`);
        const hot = i % 2 ? cell.from : cell.to - 1;
        const closer = strip(to, 333, hot);
        const found = spanOf(closer, cellOf(closer, cell));
        assert.ok(found.from <= hot && hot < found.to, `${JSON.stringify(found)} is selected, which does not have ${hot}`);
      }
    }
  }
  assert.equal(cellOf(cells, { from: 0, to: 10 }), 1, 'the first contested one');
  assert.equal(cellOf(cells, { from: 1, to: 2 }), 0);
  assert.equal(cellOf(cells, { from: 9, to: 30 }), 2);
  assert.equal(cellOf(cells, { from: 10, to: 20 }), -1);
});

test('steps are below what they need, and circles do no harm', () => {
  const node = (/** @type {string} */ id, /** @type {string[]} */ ...needs) => ({ id, title: id, state: 'done', needs });
  const l = layout([node('a'), node('b', 'a'), node('c', 'a'), node('d', 'b', 'c'), node('e', 'missing')]);
  const y = (/** @type {string} */ id) => /** @type {{y: number}} */ (l.spots.get(id)).y;
  assert.ok(y('a') < y('b') && y('b') === y('c') && y('c') < y('d') && y('e') === 0);
  assert.equal(l.edges.length, 4);
  const places = [...l.spots.values()].map((s) => `${s.x} ${s.y}`);
  assert.equal(new Set(places).size, 5, 'two steps have the same place');
  assert.equal(layout([node('a', 'b'), node('b', 'a'), node('c', 'c')]).spots.size, 3);
  const row = layout([{ ...node('a'), next: ['b'] }, node('b')]);
  assert.deepEqual(row.edges, [['a', 'b', 'next']]);
});

test('a tree has its roots and children', () => {
  const node = (/** @type {string} */ id, /** @type {string} */ parent) => ({ id, title: id, state: 'done', parent });
  const { roots, children } = forest([node('1', ''), node('1.1', '1'), node('1.2', '1'), node('lost', 'none'), node('self', 'self')]);
  assert.deepEqual(roots.map((r) => r.id), ['1', 'lost', 'self']);
  assert.deepEqual(children.get('1')?.map((r) => r.id), ['1.1', '1.2']);
});

test('a pace is seen, and what is left follows', () => {
  const p = pace();
  assert.equal(p.rate(), 0);
  p.saw(0, 0);
  p.saw(50, 5000);
  assert.equal(p.rate(), 10);
  assert.equal(left(50, 150, 10), 10_000);
  assert.equal(left(50, 0, 10), null);
  p.saw(10, 6000); // another session
  assert.equal(p.rate(), 0);
  p.saw(20, 7000);
  p.rests(); // a person is asked
  p.saw(20, 600_000);
  assert.equal(p.rate(), 0);
  p.saw(30, 601_000);
  assert.equal(p.rate(), 10);
});

test('values', () => {
  assert.deepEqual(refOf({ $sha256: 'ab', bytes: 3 }), { $sha256: 'ab', bytes: 3 });
  assert.equal(refOf({ a: 1 }), null);
  assert.equal(refOf(null), null);
  assert.deepEqual(plain({ $value: { $sha256: 1 } }), { $sha256: 1 });
  assert.equal(split({ strategy: '', samples: 8, red_flagged: 0, faults: 0, votes: { a: 2, b: 5, c: 1 }, margin: 3 }), '5–2–1');
  assert.equal(split(null), 'none');
  assert.deepEqual(boxes([5, 2, 0]), [5, 2, 0]);
  assert.deepEqual(boxes([29, 12, 1]), [12, 5, 1]);
  const voting = { strategy: '', samples: 7, red_flagged: 0, faults: 0, votes: { a: 2, b: 5 }, margin: 3 };
  assert.equal(lead({ step: 0, output: 1, voting, cost_usd: 0, duration_ms: 0 }), 3 / 7);
  assert.equal(tally(['a', 'b', 'a']), 'a ×2, b');
});

test('answers have the numbers of the rivals, whoever voted first', () => {
  const rival = (/** @type {string} */ key, /** @type {number} */ votes, /** @type {boolean} */ won) => ({ key, votes, won, answer: key });
  const sample = (/** @type {string} */ vote) => ({ question: 'q', sample: 0, outcome: /** @type {const} */ ('vote'), vote, cost_usd: 0, duration_ms: 0 });
  const flag = { ...sample('x'), outcome: /** @type {const} */ ('flag') };
  const rivals = [rival('right', 3, true), rival('wrong', 1, false)];
  assert.deepEqual(ballotKeys(rivals, [flag, sample('wrong'), sample('right'), sample('right'), sample('call'), sample('right')]), ['right', 'wrong', 'call']);
  assert.deepEqual(ballotKeys([], [sample('b'), sample('a'), sample('b')]), ['b', 'a']);
});

test('a call is not compared with a result', () => {
  const rival = (/** @type {unknown} */ answer) => ({ key: 'k', votes: 1, won: false, answer });
  const call = { tool: 'Write', input: { file_path: 'a' } };
  for (const [leading, other, want] of /** @type {[unknown, unknown, boolean][]} */ ([
    ['it is written', call, true],
    [{ total: 14 }, { $value: call }, true],
    [call, { tool: 'Read', input: {} }, false],
    [call, { total: 14 }, true],
    ['it is written', 'it is not', false],
    [{ total: 14 }, { tool: 'hammer', input: 1, weight: 2 }, false],
    [{ total: 14 }, null, false],
  ])) {
    assert.equal(unlike(rival(leading), rival(other)), want, JSON.stringify([leading, other]));
  }
});

test('a refusal is one whatever its words are', () => {
  assert.equal(refusal(''), 'no');
  assert.equal(refusal('  wrong '), 'no, wrong');
  assert.equal(refusal('always use Edit'), 'no, always use Edit');
});

test('what the server answers tells how the page stands with it', async () => {
  /** @type {string[]} */
  const told = [];
  const end = onConnection((now) => told.push(now));
  const kept = globalThis.fetch;
  /** @type {(() => Promise<Response>)[]} */
  const answers = [
    () => Promise.resolve(Response.json({})),
    () => Promise.reject(new TypeError('refused')),
    () => Promise.reject(new TypeError('refused')),
    () => Promise.resolve(Response.json({ title: 'Who are you?' }, { status: 401 })),
    () => Promise.resolve(Response.json({ title: 'Too many attempts' }, { status: 429 })),
    () => Promise.resolve(Response.json({})),
    () => Promise.resolve(Response.json({ title: 'No such run' }, { status: 404 })),
  ];
  try {
    for (const answer of answers) {
      globalThis.fetch = answer;
      await look();
    }
  } finally {
    globalThis.fetch = kept;
    end();
  }
  assert.deepEqual(told, ['lost', 'over', 'up']);
});

test('settings are sent as what they are', () => {
  assert.equal(typed({ name: 'ahead_by', type: 'number' }, '3'), 3);
  assert.equal(typed({ name: 'ahead_by', type: 'number' }, 'many'), 'many');
  assert.equal(typed({ name: 'x', type: 'switch' }, 'true'), true);
  assert.deepEqual(typed({ name: 'x', type: 'list' }, 'a\n\nb, c'), ['a', 'b, c']);
  assert.deepEqual(typed({ name: 'x', type: 'list' }, '[1, 2]'), [1, 2]);
  assert.deepEqual(typed({ name: 'records', type: 'list' }, '{"a":1}\n{"a":2}'), [{ a: 1 }, { a: 2 }]);
  assert.deepEqual(typed({ name: 'questions', type: 'list' }, 'Is {{.a}} odd?'), [{ prompt: 'Is {{.a}} odd?' }]);
  assert.deepEqual(typed({ name: 'answer', type: 'answer' }, '{"number": true}'), { number: true });
  assert.equal(typed({ name: 'answer', type: 'answer' }, 'number'), 'number');
  assert.deepEqual([...grouped([{ name: 'a', group: 'X' }, { name: 'b' }, { name: 'c', group: 'X' }])].map(([g, l]) => [g, l.length]), [['X', 2], ['Other', 1]]);
});

test('runs have the views of their form', () => {
  assert.deepEqual(tabsOf('chain').map(([name]) => name), ['', 'certificate', 'settings', 'log']);
  assert.ok(tabsOf('records').some(([name]) => name === 'records'));
  assert.ok(tabsOf('tree').some(([, label]) => label === 'Tree'));
});

test('events in words', () => {
  assert.equal(eventWords({ type: 'agent_sample_red_flagged', flag: 'too_long', reason: 'it has\n900 tokens' }), 'discarded, too_long: it has 900 tokens');
  assert.equal(eventWords({ type: 'unheard_of' }), '');
});

test('values are laid out to be read and compared', () => {
  assert.equal(pretty({ move: [1, 2, 0], next_state: [[3, 1], [], [2]] }), '{\n  "move": [1, 2, 0],\n  "next_state": [[3,1],[],[2]]\n}');
  assert.equal(pretty({ a: 1, b: 'x' }), '{\n  "a": 1,\n  "b": "x"\n}');
  assert.equal(pretty({ total: 14 }), '{"total":14}');
  assert.equal(pretty('text'), 'text');
  assert.equal(pretty([]), '[]');
  const long = { list: Array.from({ length: 40 }, (_, i) => i) };
  assert.deepEqual(JSON.parse(pretty(long)), long);
  assert.equal(pretty(long).split('\n').length, 44);
  assert.equal(votedFor({ key: '{"total":14}', votes: 1, won: true, answer: 'total: 14' }), '{"total":14}');
  assert.equal(votedFor({ key: '9f86d081884c7d65', votes: 1, won: true, answer: { total: 14 } }), '{"total":14}');
  assert.equal(votedFor({ key: 'yes', votes: 1, won: true, answer: 'yes' }), 'yes');
});
