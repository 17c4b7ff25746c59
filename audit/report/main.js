/* Puts it together: filters, keys, theme, and what the address says (#run=…&q=…&theme=…). */

function hash() { return new URLSearchParams(location.hash.slice(1)); }
function setHash(name, value) {
  const all = hash();
  if (value === null || value === '') all.delete(name); else all.set(name, value);
  history.replaceState(null, '', '#' + all);
}
function update() {
  shown = sortRows(filter());
  $('clear').hidden = !(state.words.length || state.ends.size || state.refusal >= 0 || state.user >= 0 || state.profile >= 0 ||
    state.from > -Infinity || state.to < Infinity);
  drawAll();
  drawTable();
}
function setRange(from, to) {
  state.from = from;
  state.to = to;
  $('from').value = from > -Infinity ? timeText(from, false) : '';
  $('to').value = to < Infinity ? timeText(to, false) : '';
  update();
}
function readRange() {
  const read = (id, otherwise) => {
    const text = $(id).value.trim(), match = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?))?$/.exec(text);
    const at = match ? Date.parse(`${match[1]}T${match[2] || '00:00'}Z`) : NaN;
    $(id).setAttribute('aria-invalid', String(text !== '' && isNaN(at)));
    return text === '' || isNaN(at) ? otherwise : at;
  };
  state.from = read('from', -Infinity);
  state.to = read('to', Infinity);
  update();
}
function choices(id, names, all, key) {
  const counts = new Uint32Array(names.length);
  for (const value of column[key]) counts[value]++;
  const order = names.map((_, i) => i).sort((a, b) => counts[b] - counts[a]);
  $(id).replaceChildren(el('option', {value: '-1'}, all), ...order.map(i => el('option', {value: i}, names[i])));
  $(id).addEventListener('change', () => { state[key] = Number($(id).value); update(); });
}
function clearAll() {
  Object.assign(state, {words: [], refusal: -1, user: -1, profile: -1});
  state.ends.clear();
  $('search').value = '';
  $('user').value = $('profile').value = '-1';
  setHash('q', null);
  setRange(-Infinity, Infinity);
}
function search() {
  state.words = $('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  setHash('q', $('search').value);
  here = -1;
  $('table-scroll').scrollTop = 0;
  update();
}

const dark = matchMedia('(prefers-color-scheme: dark)');
let theme = ['light', 'dark'].includes(hash().get('theme')) ? hash().get('theme') : 'auto';
function showTheme() {
  document.documentElement.dataset.theme = theme === 'auto' ? (dark.matches ? 'dark' : 'light') : theme;
  $('theme').textContent = {auto: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark'}[theme];
}
function nextTheme() {
  theme = {auto: 'light', light: 'dark', dark: 'auto'}[theme];
  setHash('theme', theme === 'auto' ? null : theme);
  showTheme();
}

function keys(event) {
  const is_typing = ['INPUT', 'SELECT', 'TEXTAREA'].includes(event.target.tagName);
  if (event.key === 'Escape') {
    if (!$('detail').hidden) closeRun();
    else if (event.target === $('search') && $('search').value) { $('search').value = ''; search(); }
  } else if (event.key === '/' && !is_typing) {
    $('search').focus();
    event.preventDefault();
  } else if (event.key === 't' && !is_typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    nextTheme();
  }
}
function soon(action, ms) {
  let timer = 0;
  return () => { clearTimeout(timer); timer = setTimeout(action, ms); };
}

function begin() {
  showTheme();
  dark.addEventListener('change', showTheme);
  $('theme').addEventListener('click', nextTheme);
  $('scope').textContent = `${data.store} on ${data.host}` + (COUNT ? `, ${timeText(DOMAIN[0], false)} to ${timeText(DOMAIN[1], false)} UTC` : '');
  $('made').textContent = `Made ${timeText(data.made)} UTC by sbox ${data.version}. Details of ${countText(data.details)} runs are in this file; nothing is fetched. A report is no proof: sbox audit verify looks at the records themselves.`;
  $('legend').replaceChildren(...GROUPS.map(([name, title]) => el('li', {}, el('span', {class: `dot ${name}`}), title)));
  choices('user', data.users, 'All users', 'user');
  choices('profile', data.profiles, 'All profiles', 'profile');
  $('search').addEventListener('input', soon(search, COUNT > 20000 ? 150 : 30));
  $('clear').addEventListener('click', clearAll);
  for (const id of ['from', 'to']) $(id).addEventListener('change', readRange);
  $('table-scroll').addEventListener('scroll', () => requestAnimationFrame(drawRows));
  $('table-scroll').addEventListener('keydown', tableKey);
  document.addEventListener('keydown', keys);
  addEventListener('resize', soon(() => { drawAll(); drawRows(); }, 120));
  $('search').value = hash().get('q') || '';
  search();
  const run = hash().get('run');
  for (let row = 0; run && row < COUNT; row++)
    if (runOf(row) === run) { here = shown.indexOf(row); openRun(row); if (here >= 0) goTo(here); break; }
  document.documentElement.dataset.ready = Math.round(performance.now());
}
begin();
