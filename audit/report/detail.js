/* One run: what is known of it, as far as the report holds it. */

/* A record's text may be {"base64": …}: bytes that are no text, shown as such. */
function textOf(value) {
  if (value === null || value === undefined) return '–';
  if (typeof value !== 'object') return String(value);
  if (typeof value.base64 !== 'string') return JSON.stringify(value);
  let text = '';
  for (const letter of atob(value.base64)) {
    const byte = letter.charCodeAt(0);
    text += byte >= 32 && byte < 127 ? letter : `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return text;
}
/* Controls and marks that reorder text are shown, not obeyed. */
function visible(text) {
  return text.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, mark =>
    mark === '\t' ? mark : `\\u${mark.codePointAt(0).toString(16).padStart(4, '0')}`);
}
const safe = value => visible(textOf(value));
function argument(value) {
  const text = safe(value);
  return /^[A-Za-z0-9_.\/:=,@%+-]+$/.test(text) ? text : `'${text.replace(/'/g, "\\'")}'`;
}
const command = argv => (argv || []).map(argument).join(' ');

function fields(pairs) {
  return el('table', {}, el('tbody', {}, ...pairs.filter(pair => pair[1] !== null && pair[1] !== '').map(([name, value]) =>
    el('tr', {}, el('th', {scope: 'row'}, name), el('td', {}, value)))));
}
/* `wide`: the column that takes what the others leave. */
function list(titles, rows, wide) {
  return el('table', {}, el('thead', {}, el('tr', {}, ...titles.map(title => el('th', {scope: 'col'}, title)))),
    el('tbody', {}, ...rows.map(row => el('tr', {}, ...row.map((cell, i) => el('td', {class: i === wide ? 'fill' : wide === undefined && i > 0 ? null : 'short'}, cell))))));
}
function section(title, ...content) { return [el('h3', {}, title), ...content]; }

function whatHappened(row) {
  return fields([
    ['Started', `${timeText(column.time[row])} UTC`], ['Took', durationText(column.wall[row])],
    ['Peak memory', sizeText(column.memory[row] < 0 ? -1 : column.memory[row] * 1024)],
    ['User', data.users[column.user[row]]], ['Profile', data.profiles[column.profile[row]]], ['Run', el('code', {}, runOf(row))],
  ]);
}
function whoAndWhat(start) {
  const who = start.who || {}, profile = start.profile || {}, labels = Object.entries(start.labels || {});
  return fields([
    ['Who', `${safe(who.user)} (uid ${safe(who.real_uid)}, login ${safe(who.login_uid)})${who.tty ? ` on ${safe(who.tty)}` : ''}, host ${safe(who.host)}`],
    ['Started by', `${safe(who.caller_exe)} (pid ${safe(who.caller_pid)})`],
    ['Folder', `${safe(start.cwd)}${start.inside_cwd !== start.cwd ? `, inside ${safe(start.inside_cwd)}` : ''}`],
    ['Ran as', `uid ${safe(start.outer_uid)}, inside ${safe(start.inner_uid)}`],
    ['Profile file', `${safe(profile.path)}`], ['its SHA-256', el('code', {}, safe(profile.sha256))],
    ['Labels', labels.map(([key, value]) => `${visible(key)}=${safe(value)}`).join(', ')],
    ['Variables', (start.environment || []).map(safe).join(', ')],
  ]);
}
function usageOf(end) {
  const usage = end.usage || {}, ns = key => usage[key] === null || usage[key] === undefined ? -1 : usage[key] / 1000;
  const bytes = key => sizeText(usage[key] ?? -1);
  return fields([
    ['Processor', `${durationText(ns('user_ns'))} user, ${durationText(ns('sys_ns'))} system, ${durationText(ns('sbox_cpu_ns'))} of sbox for it`],
    ['Memory', `${bytes('peak_memory_bytes')} at most (${safe(usage.memory_source)}), ${safe(usage.peak_tasks)} tasks`],
    ['Files', `read ${bytes('read_bytes')}, wrote ${bytes('written_bytes')}`],
  ]);
}
function denialsOf(end) {
  const denials = end.denials || [];
  if (!denials.length) return [];
  return section(`Refused${end.denials_dropped ? ` (and ${end.denials_dropped} more, not kept)` : ''}`, list(['', 'what', 'times', 'saw'],
    denials.map(d => [safe(d.boundary), el('span', {}, `${safe(d.op)} ${d.object === null ? '' : safe(d.object)}`,
      d.exe ? el('div', {class: 'permit'}, `by ${safe(d.exe)}`) : '', d.permit ? el('div', {class: 'permit'}, `to allow it: ${safe(d.permit)}`) : '',
      d.never ? el('div', {class: 'permit'}, `never allowed: ${safe(d.never)}`) : ''), `≥ ${safe(d.count)}`, safe(d.errno)]), 1));
}
const changed = () => el('strong', {}, '[CHANGED in the store: what follows is not what was kept]\n');
function streamOf(name, stream, text) {
  if (!stream || stream.bytes === 0) return [];
  const title = `${name}: ${stream.bytes === null ? 'not counted' : sizeText(stream.bytes)}`;
  if (!text) return section(title, el('p', {class: 'cut'}, 'not kept, or not in this report'));
  const pre = el('pre', {tabindex: '0'}, text.changed ? changed() : '', text.head);
  if (text.cut) pre.append(el('span', {class: 'cut'}, `\n[${sizeText(text.cut)} are not here]\n`), text.tail);
  return section(title, pre);
}
function detailsOf(record) {
  const {start, end, text, scripts} = record, parts = [];
  for (const script of scripts) parts.push(...section(`${visible(script.kind)} ${script.path === null ? '' : safe(script.path)}`, el('pre', {tabindex: '0'}, script.changed ? changed() : '', script.text)));
  if (end) {
    parts.push(...denialsOf(end));
    for (const name of ['stdout', 'stderr', 'stdin']) parts.push(...streamOf(name, end[name], text[name]));
    if ((end.execs || []).length) parts.push(...section(`Programs executed (${safe(end.execs_total)})`, list(['times', 'path', 'arguments'],
      end.execs.map(e => [safe(e.count), el('code', {}, safe(e.path)), el('code', {}, command(e.argv))]), 2)));
  }
  if (start) parts.push(...section('Who and under what', whoAndWhat(start)));
  if (end) parts.push(...section('What it used', usageOf(end)));
  if (start) {
    const later = (end && end.files) || [];
    const files = [...(start.files || []).filter(f => !later.some(l => l.kind === f.kind && l.path === f.path)), ...later];
    parts.push(...section('Files', list(['kind', 'path', 'SHA-256'], files.map(f => [safe(f.kind), safe(f.path), el('code', {}, safe(f.sha256))]))));
    const items = record.enforced < 0 ? [] : JSON.parse($(`enforced-${record.enforced}`).textContent);
    parts.push(el('details', {}, el('summary', {}, `What was enforced (${items.length})`), list(['', 'asked', 'state', 'by'], items.map(i => [
      `${safe(i.boundary)} ${safe(i.name)}`, safe(i.asked), el('span', {class: `state-${/^[a-z]+$/.test(i.state) ? i.state : ''}`}, safe(i.state)),
      [i.mechanism, i.reason, i.residual].filter(Boolean).map(safe).join('; ')]), 3)));
  }
  parts.push(el('details', {}, el('summary', {}, 'The records'), el('pre', {tabindex: '0'}, visible(JSON.stringify({start, end}, null, 2)))));
  return parts;
}

let opener = null;
function openRun(row, focus = true) {
  const panel = $('detail'), run = runOf(row), holder = document.getElementById(`run-${run}`);
  const record = holder ? JSON.parse(holder.textContent) : null;
  const close = el('button', {type: 'button', title: 'Close (Escape)'}, 'Close');
  close.addEventListener('click', closeRun);
  if (panel.hidden) opener = document.activeElement;
  const message = record && record.end && record.end.end && record.end.end.message;
  panel.replaceChildren(
    el('div', {class: 'top'}, el('h2', {id: 'detail-title'}, record && record.start ? command(record.start.argv) : data.programs[column.program[row]]), close),
    el('p', {class: 'verdict'}, el('span', {class: `dot ${GROUPS[column.group[row]][0]}`}), endText(row)),
    ...(message ? [el('p', {class: 'message'}, safe(message))] : []),
    el('h3', {}, 'Run'), whatHappened(row),
    ...(record ? detailsOf(record) : [el('p', {class: 'none'}, 'The report holds no more of this run. All of it: ', el('code', {}, `sbox audit show ${run}`))]));
  panel.hidden = false;
  panel.scrollTop = 0;
  if (focus) panel.focus();
  setHash('run', run);
}
function closeRun() {
  $('detail').hidden = true;
  setHash('run', null);
  (opener && opener.isConnected ? opener : $('table-scroll')).focus();
}
