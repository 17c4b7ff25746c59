'use strict';
/* What the report knows, unpacked: one typed array a column. Nothing of it ever becomes HTML. */

const $ = id => document.getElementById(id);
const data = JSON.parse($('data').textContent);
const COUNT = data.n;

const GROUPS = [
  ['code', 'exited, not with 0'], ['signal', 'signal or cancelled'], ['limit', 'limit reached'],
  ['refused', 'not started, or boundary lost'], ['open', 'no end yet'], ['ok', 'exited 0'],
];
const GROUP_OF = {
  signaled: 'signal', cancelled: 'signal', timeout: 'limit', cpu: 'limit', memory: 'limit', processes: 'limit',
  output: 'limit', disk: 'limit', running: 'open', unfinished: 'open',
};
const SIGNALS = {
  1: 'SIGHUP', 2: 'SIGINT', 3: 'SIGQUIT', 4: 'SIGILL', 5: 'SIGTRAP', 6: 'SIGABRT', 7: 'SIGBUS', 8: 'SIGFPE', 9: 'SIGKILL',
  10: 'SIGUSR1', 11: 'SIGSEGV', 12: 'SIGUSR2', 13: 'SIGPIPE', 14: 'SIGALRM', 15: 'SIGTERM', 24: 'SIGXCPU', 25: 'SIGXFSZ', 31: 'SIGSYS',
};

const column = {
  time: new Float64Array(COUNT), wall: Float64Array.from(data.w), memory: Float64Array.from(data.m),
  output: Float64Array.from(data.o), code: Int32Array.from(data.x), kind: Uint8Array.from(data.k),
  user: Uint32Array.from(data.u), profile: Uint32Array.from(data.p), program: Uint32Array.from(data.g),
  group: new Uint8Array(COUNT), end: new Uint8Array(COUNT), denied: new Uint32Array(COUNT),
};
const EXITED = data.kinds.indexOf('exited');
for (let i = 0, at = 0; i < COUNT; i++) column.time[i] = at += data.t[i];
const groupNumber = Object.fromEntries(GROUPS.map(([name], i) => [name, i]));
for (let i = 0; i < COUNT; i++) {
  const kind = column.kind[i], fails = kind === EXITED && column.code[i] !== 0;
  column.end[i] = kind * 2 + fails;
  column.group[i] = groupNumber[kind === EXITED ? (fails ? 'code' : 'ok') : GROUP_OF[data.kinds[kind]] || 'refused'];
}
/* rows of each refusal */
const refusals = data.denials.map(([boundary, op, object]) => ({boundary, op, object, rows: [], counts: []}));
for (const [row, ...pairs] of data.d) {
  column.denied[row] = pairs.length / 2;
  for (let i = 0; i < pairs.length; i += 2) {
    refusals[pairs[i]].rows.push(row);
    refusals[pairs[i]].counts.push(pairs[i + 1]);
  }
}
const runOf = row => data.run.substr(row * 26, 26);

/* ---- words for values ---- */

const two = n => String(n).padStart(2, '0');
function timeText(ms, seconds = true) {
  const d = new Date(ms);
  return `${d.getUTCFullYear()}-${two(d.getUTCMonth() + 1)}-${two(d.getUTCDate())} ${two(d.getUTCHours())}:${two(d.getUTCMinutes())}` +
    (seconds ? `:${two(d.getUTCSeconds())}` : '');
}
function durationText(us) {
  if (us <= 0) return '–';
  const s = us / 1e6;
  if (s < 0.001) return `${us} µs`;
  if (s < 1) return `${(s * 1000).toFixed(s < 0.01 ? 1 : 0)} ms`;
  if (s < 60) return `${s.toFixed(s < 10 ? 2 : 1)} s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${two(Math.floor(s % 60))}s`;
  return `${Math.floor(s / 3600)}h${two(Math.floor(s / 60 % 60))}m`;
}
function sizeText(bytes) {
  if (bytes < 0) return '–';
  let unit = 0;
  for (; bytes >= 1024 && unit < 5; unit++) bytes /= 1024;
  return unit === 0 ? `${bytes} B` : `${bytes.toFixed(bytes < 10 ? 1 : 0)} ${'BKMGTP'[unit]}`;
}
const countText = n => n.toLocaleString('en').replace(/,/g, '\u2009');
function endLabel(end) {
  const name = data.kinds[end >> 1].replace(/_/g, ' ');
  return (end >> 1) === EXITED ? (end & 1 ? 'exited, not with 0' : 'exited 0') : name;
}
function endText(row) {
  const name = data.kinds[column.kind[row]], code = column.code[row];
  if (code < 0) return name.replace(/_/g, ' ');
  return GROUP_OF[name] === 'signal' ? `${name} ${SIGNALS[code] || code}` : `${name.replace(/_/g, ' ')} ${code}`;
}
function quantile(sorted, share) {
  return sorted.length ? sorted[Math.floor((sorted.length - 1) * share)] : -1;
}

/* ---- elements: text is always text ---- */

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (value !== null && value !== false) node.setAttribute(name, value);
  node.append(...children.filter(child => child !== null && child !== undefined && child !== false));
  return node;
}
function svg(tag, attributes, text) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

/* ---- which runs ---- */

const state = {words: [], ends: new Set(), refusal: -1, user: -1, profile: -1, from: -Infinity, to: Infinity, sort: 'time', down: true};
let shown = new Uint32Array(0);

/* For each word of the search, which programs, users and profiles hold it. */
function wordTests(words) {
  const holds = (list, word) => Uint8Array.from(list, text => text.toLowerCase().includes(word));
  return words.map(word => ({
    programs: holds(data.programs, word), users: holds(data.users, word), profiles: holds(data.profiles, word),
    run: /^[0-9a-z]{3,26}$/.test(word) ? word.toUpperCase() : null,
  }));
}
function filter() {
  const tests = wordTests(state.words), result = new Uint32Array(COUNT);
  const refused = state.refusal < 0 ? null : new Uint8Array(COUNT);
  if (refused) for (const row of refusals[state.refusal].rows) refused[row] = 1;
  let count = 0;
  for (let i = 0; i < COUNT; i++) {
    if (column.time[i] < state.from || column.time[i] >= state.to) continue;
    if (state.ends.size && !state.ends.has(column.end[i])) continue;
    if (refused && !refused[i]) continue;
    if (state.user >= 0 && column.user[i] !== state.user) continue;
    if (state.profile >= 0 && column.profile[i] !== state.profile) continue;
    if (!tests.every(t => t.programs[column.program[i]] || t.users[column.user[i]] || t.profiles[column.profile[i]] ||
        (t.run && runOf(i).includes(t.run)))) continue;
    result[count++] = i;
  }
  return result.subarray(0, count);
}
function sortRows(rows) {
  const sign = state.down ? -1 : 1, by = state.sort;
  const texts = {user: data.users, profile: data.profiles, program: data.programs}[by];
  let keys = column[by];
  if (texts) { /* the place of each text among all of them */
    const order = texts.map((_, i) => i).sort((a, b) => texts[a] < texts[b] ? -1 : texts[a] > texts[b] ? 1 : 0);
    const rank = new Uint32Array(texts.length);
    order.forEach((text, place) => rank[text] = place);
    keys = keys.map(text => rank[text]);
  } else if (by === 'end') {
    keys = column.end.map((end, i) => column.group[i] * 32 + (end >> 1));
  }
  return rows.sort((a, b) => (keys[a] - keys[b]) * sign || b - a);
}
