/* The table: only the rows in sight exist. */

const ROW = 27, TALLEST = 8e6; /* browsers have a tallest element */
const COLUMNS = [
  ['time', 'Started (UTC)', ''], ['program', 'Command', ''], ['user', 'User', 'wide middle'], ['profile', 'Profile', 'wide middle'],
  ['end', 'End', ''], ['wall', 'Time', 'number'], ['memory', 'Memory', 'number wide middle'], ['output', 'Output', 'number wide middle'],
  ['denied', 'Refused', 'number middle'],
];
let here = -1; /* place in `shown` of the row that the keys are at */

function cells(row) {
  const group = GROUPS[column.group[row]][0], none = column.denied[row] === 0;
  return [
    el('span', {class: 'quiet'}, timeText(column.time[row])), el('span', {class: 'mono', title: data.programs[column.program[row]]}, data.programs[column.program[row]]),
    data.users[column.user[row]], data.profiles[column.profile[row]],
    el('span', {}, el('span', {class: `dot ${group}`}), endText(row)), durationText(column.wall[row]),
    sizeText(column.memory[row] < 0 ? -1 : column.memory[row] * 1024), sizeText(column.output[row]),
    none ? '' : el('span', {class: 'denied'}, String(column.denied[row])),
  ].map((content, i) => el('div', {role: 'gridcell', class: COLUMNS[i][2]}, content));
}
function drawTitles() {
  $('columns').replaceChildren(...COLUMNS.map(([name, title, kind]) => {
    const is_sorted = state.sort === name, button = el('button', {type: 'button'}, title + (is_sorted ? (state.down ? ' ↓' : ' ↑') : ''));
    button.addEventListener('click', () => {
      state.down = is_sorted ? !state.down : !['program', 'user', 'profile'].includes(name);
      state.sort = name;
      update();
      $('columns').children[COLUMNS.findIndex(c => c[0] === name)].firstChild.focus();
    });
    return el('div', {role: 'columnheader', class: kind, 'aria-sort': is_sorted ? (state.down ? 'descending' : 'ascending') : null}, button);
  }));
}
function heightOfAll() { return Math.min(shown.length * ROW, TALLEST); }
/* Which row is at the top: beyond TALLEST a pixel stands for more than one. */
function firstRow() {
  const box = $('table-scroll'), fits = Math.ceil(box.clientHeight / ROW);
  if (shown.length * ROW <= TALLEST) return Math.floor(box.scrollTop / ROW);
  return Math.round(box.scrollTop / Math.max(1, TALLEST - box.clientHeight) * Math.max(0, shown.length - fits));
}
function drawRows() {
  const box = $('table-scroll'), first = firstRow(), last = Math.min(shown.length, first + Math.ceil(box.clientHeight / ROW) + 1);
  const list = [];
  for (let place = first; place < last; place++) {
    const node = el('div', {role: 'row', class: place === here ? 'row here' : 'row', id: `row-${place}`, 'aria-rowindex': place + 2,
      'aria-selected': String(place === here)}, ...cells(shown[place]));
    node.addEventListener('click', () => { here = place; drawRows(); openRun(shown[place]); });
    list.push(node);
  }
  $('rows').replaceChildren(...list);
  $('rows').style.transform = `translateY(${shown.length * ROW <= TALLEST ? first * ROW : box.scrollTop}px)`;
  if (here >= first && here < last) box.setAttribute('aria-activedescendant', `row-${here}`);
  else box.removeAttribute('aria-activedescendant');
}
function drawTable() {
  drawTitles();
  $('grid').setAttribute('aria-rowcount', shown.length + 1);
  $('spacer').style.height = `${heightOfAll()}px`;
  $('columns').style.paddingRight = `${8 + $('table-scroll').offsetWidth - $('table-scroll').clientWidth}px`; /* the scroll bar */
  const of = data.total > COUNT ? ` (the newest of ${countText(data.total)})` : '';
  $('shown').textContent = shown.length === COUNT ? `${countText(COUNT)} runs${of}` : `${countText(shown.length)} of ${countText(COUNT)} runs${of}`;
  here = Math.min(here, shown.length - 1);
  drawRows();
}
function goTo(place) {
  const box = $('table-scroll'), fits = Math.floor(box.clientHeight / ROW);
  here = Math.max(0, Math.min(shown.length - 1, place));
  const first = firstRow(), wanted = here < first ? here : here >= first + fits ? here - fits + 1 : first;
  if (wanted !== first)
    box.scrollTop = shown.length * ROW <= TALLEST ? wanted * ROW : wanted / Math.max(1, shown.length - fits) * (TALLEST - box.clientHeight);
  drawRows();
}
function tableKey(event) {
  const page = Math.floor($('table-scroll').clientHeight / ROW) - 1;
  const to = {ArrowDown: here + 1, ArrowUp: here - 1, PageDown: here + page, PageUp: here - page, Home: 0, End: shown.length - 1}[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (to !== undefined && shown.length) {
    goTo(to);
    if (!$('detail').hidden) openRun(shown[here], false);
  } else if (event.key === 'Enter' && here >= 0) {
    openRun(shown[here]);
  } else {
    return;
  }
  event.preventDefault();
}
