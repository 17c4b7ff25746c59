/* The pictures: counts over time, by end, by refusal, and two distributions. */

const HEIGHT = 118, AXIS = 20;

function timeDomain() {
  let from = Infinity, to = -Infinity;
  for (const t of column.time) { if (t < from) from = t; if (t > to) to = t; }
  return from <= to ? [from, Math.max(to + 1, from + 1000)] : [Date.now() - 1000, Date.now()];
}
const DOMAIN = timeDomain();
const STEPS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];

function tickTexts(from, to, most) {
  const step = 1000 * (STEPS.find(s => (to - from) / 1000 / s <= most) || STEPS[STEPS.length - 1]);
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at < to; at += step) {
    const text = timeText(at);
    ticks.push([at, step >= 86400e3 ? text.slice(0, 10) : step >= 60e3 ? (text.slice(11, 16) === '00:00' ? text.slice(5, 10) : text.slice(11, 16)) : text.slice(11)]);
  }
  return ticks;
}

function drawTimeline(rows) {
  const box = $('timeline'), width = Math.max(box.clientWidth, 300), bins = Math.min(180, Math.floor(width / 6));
  const [from, to] = DOMAIN, scale = bins / (to - from);
  const all = new Uint32Array(bins), counts = GROUPS.map(() => new Uint32Array(bins));
  for (let i = 0; i < COUNT; i++) all[Math.min(bins - 1, Math.floor((column.time[i] - from) * scale))]++;
  for (const i of rows) counts[column.group[i]][Math.min(bins - 1, Math.floor((column.time[i] - from) * scale))]++;
  const most = Math.max(1, ...all), picture = svg('svg', {viewBox: `0 0 ${width} ${HEIGHT + AXIS}`, height: HEIGHT + AXIS, role: 'img'});
  picture.setAttribute('aria-label', `${rows.length} runs from ${timeText(from)} to ${timeText(to)} UTC, at most ${most} in one of ${bins} parts. Drag to choose a time, or use the two fields above.`);
  const step = width / bins, bar = (bin, height, bottom, name) => picture.append(svg('rect', {
    x: (bin * step + 0.5).toFixed(2), width: Math.max(1, step - 1).toFixed(2),
    y: (HEIGHT - bottom - height).toFixed(2), height: height.toFixed(2), class: name}));
  for (let bin = 0; bin < bins; bin++) {
    if (all[bin]) bar(bin, all[bin] / most * (HEIGHT - 14), 0, 'all');
    let bottom = 0;
    counts.forEach((group, g) => {
      if (!group[bin]) return;
      const height = Math.max(1, group[bin] / most * (HEIGHT - 14));
      bar(bin, height, bottom, GROUPS[g][0]);
      bottom += height;
    });
  }
  picture.append(svg('line', {x1: 0, x2: width, y1: HEIGHT + .5, y2: HEIGHT + .5, class: 'axis'}));
  picture.append(svg('text', {x: 0, y: 10}, `${countText(most)} at most in ${durationText((to - from) * 1000 / bins)}`));
  for (const [at, text] of tickTexts(from, to, Math.floor(width / 95))) {
    const x = (at - from) / (to - from) * width;
    picture.append(svg('line', {x1: x, x2: x, y1: HEIGHT, y2: HEIGHT + 4, class: 'axis'}));
    if (x < width - 58) picture.append(svg('text', {x: x + 3, y: HEIGHT + 15}, text));
  }
  drawBrush(picture, width);
  box.replaceChildren(picture);
}
function drawBrush(picture, width) {
  const [from, to] = DOMAIN, place = at => Math.max(0, Math.min(width, (at - from) / (to - from) * width));
  const timeAt = event => {
    const box = picture.getBoundingClientRect();
    return from + Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * (to - from);
  };
  const area = svg('rect', {y: 0, height: HEIGHT, class: 'brush'});
  const show = (a, b) => { area.setAttribute('x', place(a)); area.setAttribute('width', Math.max(0, place(b) - place(a))); };
  if (state.from > -Infinity || state.to < Infinity) show(Math.max(from, state.from), Math.min(to, state.to));
  picture.append(area);
  picture.addEventListener('pointerdown', down => {
    const begun = timeAt(down);
    const move = event => show(Math.min(begun, timeAt(event)), Math.max(begun, timeAt(event)));
    picture.setPointerCapture(down.pointerId);
    picture.addEventListener('pointermove', move);
    picture.addEventListener('pointerup', up => {
      picture.removeEventListener('pointermove', move);
      const end = timeAt(up), is_click = Math.abs(up.clientX - down.clientX) < 4;
      setRange(is_click ? -Infinity : Math.min(begun, end), is_click ? Infinity : Math.max(begun, end));
    }, {once: true});
  });
}

/* A list of buttons, each a filter: pressed or not. */
function barButton(label, count, share, fill, pressed, toggle) {
  const bar = el('span', {class: 'fill ' + fill});
  bar.style.width = `${(share * 100).toFixed(2)}%`;
  const button = el('button', {type: 'button', 'aria-pressed': String(pressed)}, label, el('span', {class: 'count'}, countText(count)),
    el('span', {class: 'track', 'aria-hidden': 'true'}, bar));
  button.addEventListener('click', toggle);
  return el('li', {}, button);
}
function drawEnds(rows) {
  const counts = new Map(), all = new Map();
  for (let i = 0; i < COUNT; i++) all.set(column.end[i], (all.get(column.end[i]) || 0) + 1);
  for (const i of rows) counts.set(column.end[i], (counts.get(column.end[i]) || 0) + 1);
  const most = Math.max(1, ...counts.values());
  const keys = [...all.keys()].sort((a, b) => all.get(b) - all.get(a));
  $('ends').replaceChildren(...keys.map(end => {
    const group = (end >> 1) === EXITED ? (end & 1 ? 'code' : 'ok') : GROUP_OF[data.kinds[end >> 1]] || 'refused';
    const label = el('span', {class: 'label'}, endLabel(end));
    return barButton(label, counts.get(end) || 0, (counts.get(end) || 0) / most, group, state.ends.has(end), () => {
      if (!state.ends.delete(end)) state.ends.add(end);
      update();
    });
  }));
}
const MOST_REFUSALS = 12;
let allRefusals = false;
function drawDenials(rows) {
  const here = new Uint8Array(COUNT);
  for (const i of rows) here[i] = 1;
  const list = refusals.map((refusal, number) => ({...refusal, number, runs: refusal.rows.reduce((sum, row) => sum + here[row], 0)}))
    .filter(r => r.runs > 0 || r.number === state.refusal).sort((a, b) => b.runs - a.runs);
  const box = $('denials'), most = Math.max(1, ...list.map(r => r.runs));
  box.replaceChildren();
  if (!list.length) box.append(el('p', {class: 'none'}, 'Nothing was refused.'));
  const kept = allRefusals ? list : list.slice(0, MOST_REFUSALS);
  for (const boundary of new Set(kept.map(r => r.boundary))) {
    const mine = kept.filter(r => r.boundary === boundary);
    box.append(el('h3', {}, boundary), el('ul', {class: 'bars'}, ...mine.map(r => {
      const label = el('span', {class: 'label', title: `${r.op} ${r.object ?? ''}`}, el('b', {}, r.op), r.object ?? '');
      return barButton(label, r.runs, r.runs / most, 'plain', state.refusal === r.number, () => {
        state.refusal = state.refusal === r.number ? -1 : r.number;
        update();
      });
    })));
  }
  if (list.length > kept.length) {
    const more = el('button', {type: 'button', class: 'more'}, `${list.length - kept.length} more`);
    more.addEventListener('click', () => { allRefusals = true; drawDenials(shown); });
    box.append(more);
  }
}

/* A histogram with a logarithmic axis, and where the median, 90 and 99 of 100 are. */
function drawSpread(id, title, values, text) {
  const box = $(id), width = Math.max(box.clientWidth, 240), height = 74, top = 34;
  const sorted = values.filter(v => v > 0).sort(), picture = svg('svg', {viewBox: `0 0 ${width} ${height + top + 16}`, height: height + top + 16, role: 'img'});
  picture.append(svg('text', {x: 0, y: 11, class: 'name'}, title));
  box.replaceChildren(picture);
  if (!sorted.length) {
    picture.append(svg('text', {x: 0, y: 30}, 'not known'));
    return;
  }
  const low = Math.log10(sorted[0]), high = Math.max(Math.log10(sorted[sorted.length - 1]), low + .3), bins = 48;
  const counts = new Uint32Array(bins), place = v => (Math.log10(v) - low) / (high - low);
  for (const v of sorted) counts[Math.min(bins - 1, Math.floor(place(v) * bins))]++;
  const most = Math.max(...counts), bottom = top + height;
  counts.forEach((count, bin) => count && picture.append(svg('rect', {
    x: (bin * width / bins + .5).toFixed(2), width: (width / bins - 1).toFixed(2),
    y: (bottom - Math.max(1, count / most * height)).toFixed(2), height: Math.max(1, count / most * height).toFixed(2), class: 'bar'})));
  picture.append(svg('line', {x1: 0, x2: width, y1: bottom + .5, y2: bottom + .5, class: 'axis'}));
  picture.append(svg('text', {x: 0, y: bottom + 13}, text(sorted[0])));
  picture.append(svg('text', {x: width, y: bottom + 13, 'text-anchor': 'end'}, text(sorted[sorted.length - 1])));
  const marks = [['half', .5], ['90%', .9], ['99%', .99]].map(([name, share]) => [name, quantile(sorted, share)]);
  const room = 88, at = marks.map(mark => place(mark[1]) * width);
  for (let i = 1; i < at.length; i++) at[i] = Math.max(at[i], at[i - 1] + room);
  for (let i = at.length - 1, most = width - 74; i >= 0; most = at[i--] - room) at[i] = Math.min(at[i], most);
  marks.forEach(([name, value], i) => {
    const x = place(value) * width;
    picture.append(svg('line', {x1: x, x2: x, y1: top - 4, y2: bottom, class: 'mark'}));
    picture.append(svg('text', {x: at[i], y: top - 8}, `${name} ${text(value)}`));
  });
  picture.setAttribute('aria-label', `${title} of ${sorted.length} runs: ${marks.map(([n, v]) => `${n} ${text(v)}`).join(', ')}, least ${text(sorted[0])}, most ${text(sorted[sorted.length - 1])}`);
}
function drawFigures(rows) {
  const wall = [], group = GROUPS.map(() => 0);
  let output = 0, denied = 0;
  for (const i of rows) {
    group[column.group[i]]++;
    denied += column.denied[i] > 0;
    output += Math.max(0, column.output[i]);
    if (column.wall[i] >= 0) wall.push(column.wall[i]);
  }
  const sorted = Float64Array.from(wall).sort(), ok = group[groupNumber.ok], open = group[groupNumber.open];
  const share = n => rows.length ? `${(n / rows.length * 100).toFixed(n / rows.length < .1 ? 1 : 0)}%` : '';
  const figure = (name, value, small) => el('div', {}, el('dt', {}, name), el('dd', {}, value, small ? el('small', {}, small) : ''));
  $('figures').replaceChildren(
    figure('Runs', countText(rows.length), rows.length < COUNT ? `of ${countText(COUNT)}` : ''),
    figure('Ended otherwise than exited 0', countText(rows.length - ok - open), share(rows.length - ok - open)),
    figure('With something refused', countText(denied), share(denied)),
    figure('Stopped by a limit', countText(group[groupNumber.limit]), share(group[groupNumber.limit])),
    figure('No end yet', countText(open)),
    figure('Half took less than', durationText(quantile(sorted, .5)), `99%: ${durationText(quantile(sorted, .99))}`),
    figure('Output', sizeText(output)));
}
function drawAll() {
  const pick = list => Float64Array.from(shown, i => list[i]);
  drawFigures(shown);
  drawTimeline(shown);
  drawEnds(shown);
  drawDenials(shown);
  drawSpread('time-spread', 'Time by the clock', pick(column.wall), durationText);
  drawSpread('memory-spread', 'Peak memory', pick(column.memory).map(k => k * 1024), sizeText);
}
