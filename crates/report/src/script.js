'use strict';
// Hovering, zooming, searching, sorting and keys. The page is whole without it. Names are read from the page and set as text only.
(() => {
  const all = (root, selector) => Array.from(root.querySelectorAll(selector));
  const ms = (ns) => (ns / 1e6).toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 }) + ' ms';
  const signed = (ns) => (ns < 0 ? '−' : ns > 0 ? '+' : '') + ms(Math.abs(ns));
  document.documentElement.classList.add('js');

  // The tip follows the mouse and stays inside of the window.
  const tip = document.getElementById('tip');
  function show(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    const left = Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8));
    const top = y + 18 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 10 : y + 18;
    tip.style.left = left + 'px';
    tip.style.top = Math.max(4, top) + 'px';
  }
  const hide = () => { tip.hidden = true; };
  addEventListener('scroll', hide, { passive: true });
  addEventListener('keydown', (event) => { if (event.key === 'Escape') hide(); });

  all(document, 'svg [data-tip]').forEach(told);
  for (const section of all(document, 'section.case')) {
    const table = section.querySelector('table.runs');
    if (table) runs(section, table);
    all(section, '.waterfall .step').forEach(step);
    all(section, '.flame').forEach(flame);
    all(section, '.views').forEach(views);
    all(section, 'table.searched').forEach(search);
  }

  // A mark tells its own text, unless it stands for a run that has a row: then the row tells more.
  function told(mark) {
    const section = mark.closest('section.case');
    if (mark.dataset.run && section && section.querySelector('table.runs')) return;
    mark.addEventListener('pointermove', (event) => show(mark.dataset.tip, event.clientX, event.clientY));
    mark.addEventListener('pointerleave', hide);
  }

  // Marks and bars of a run tell what its row in the table of runs says, and light it.
  function runs(section, table) {
    const heads = all(table, 'thead th').map((head) => head.textContent);
    const rows = new Map(all(table, 'tbody tr').map((row) => [row.dataset.run, row]));
    const marks = all(section, 'svg [data-run]');
    const texts = new Map();
    for (const [run, row] of rows) {
      const lines = Array.from(row.cells, (cell, at) => [heads[at], cell]).filter(([, cell]) => cell.textContent && cell.dataset.v !== '0');
      const line = ([head, cell]) => (cell.dataset.v ? head + ': ' + cell.textContent + ' ms' : head === 'Warnings' ? 'Warning: ' + cell.textContent : cell.textContent);
      texts.set(run, lines.map(line).join('\n'));
    }
    const light = (run, is) => {
      marks.filter((mark) => mark.dataset.run === run && mark.classList.contains('dot')).forEach((mark) => mark.classList.toggle('on', is));
      if (rows.has(run)) rows.get(run).classList.toggle('lit', is);
    };
    for (const mark of marks) {
      mark.addEventListener('pointermove', (event) => show(texts.get(mark.dataset.run) || '', event.clientX, event.clientY));
      mark.addEventListener('pointerenter', () => light(mark.dataset.run, true));
      mark.addEventListener('pointerleave', () => { light(mark.dataset.run, false); hide(); });
    }
  }

  function step(row) {
    const [delta, half, mark] = row.cells;
    const text = row.querySelector('th').textContent;
    const picture = row.querySelector('.picture');
    const lines = [text, signed(Number(delta.dataset.v)) + (half.dataset.v ? ' ± ' + ms(Number(half.dataset.v)) : ''), mark.textContent ? 'no chance' : ''];
    picture.addEventListener('pointermove', (event) => show(lines.filter(Boolean).join('\n'), event.clientX, event.clientY));
    picture.addEventListener('pointerleave', hide);
  }

  // A flame graph: a frame, then all that it consists of, so that what is in a frame is one stretch.
  function flame(box) {
    const svg = box.querySelector('svg');
    const whole = box.closest('figure').dataset.view === 'cpu' ? 'All CPU time' : 'The whole path';
    const info = box.querySelector('.info');
    const width = svg.viewBox.baseVal.width;
    const frames = all(svg, '.f').map((group) => {
      const rect = group.querySelector('rect');
      const number = (name) => Number(rect.getAttribute(name));
      return { group, rects: all(group, 'rect'), text: group.querySelector('text'), x: number('x'), width: number('width'), y: number('y'), parent: -1, end: 0 };
    });
    const open = [];
    frames.forEach((frame, at) => {
      while (open.length && frames[open[open.length - 1]].y >= frame.y) frames[open.pop()].end = at;
      frame.parent = open.length ? open[open.length - 1] : -1;
      open.push(at);
    });
    open.forEach((at) => { frames[at].end = frames.length; });
    let zoomed = 0;
    let current = 0;

    function words(at) {
      const { name, a, b, delta, half, level } = frames[at].group.dataset;
      const path = [];
      for (let above = frames[at].parent; above > 0; above = frames[above].parent) path.unshift(frames[above].group.dataset.name);
      const change = 'difference ' + signed(Number(delta)) + (half ? ' ± ' + ms(Number(half)) : '');
      const figures = [ms(Number(a)) + ' → ' + ms(Number(b)), change];
      return { title: level === 'all' ? whole : name, path: path.join(' › '), figures };
    }
    function fit(frame, x, wide) {
      const rectWidth = Math.max(0.3, wide);
      frame.rects.forEach((rect) => { rect.setAttribute('x', x); rect.setAttribute('width', rectWidth); });
      frame.text.setAttribute('x', x + 4);
      const room = Math.floor((rectWidth - 8) / 6.7);
      const name = Array.from(frame.group.dataset.name);
      frame.text.textContent = room < 3 ? '' : name.length <= room ? name.join('') : name.slice(0, room - 1).join('') + '…';
    }
    function zoom(at) {
      zoomed = at;
      const to = frames[at];
      const factor = width / Math.max(to.width, 1e-9);
      frames.forEach((frame, place) => {
        const isAbove = place < at && frame.end > at;
        const isIn = place >= at && place < to.end;
        frame.group.toggleAttribute('hidden', !isAbove && !isIn);
        frame.group.style.display = isAbove || isIn ? '' : 'none';
        frame.group.classList.toggle('dimmed', isAbove && at > 0);
        if (isAbove) fit(frame, 0, width - 0.6);
        if (isIn) fit(frame, (frame.x - to.x) * factor, frame.width * factor);
      });
    }
    function choose(at) {
      frames[current].group.classList.remove('on');
      current = at;
      frames[at].group.classList.add('on');
      const { title, path, figures } = words(at);
      info.textContent = [path, title].filter(Boolean).join(' › ') + ': ' + figures.join(', ');
    }
    const isShown = (at) => at >= 0 && at < frames.length && frames[at].group.style.display !== 'none';
    function sibling(way) {
      for (let at = current + way; at >= 0 && at < frames.length; at += way) {
        if (isShown(at) && frames[at].y === frames[current].y) return at;
      }
      return current;
    }
    frames.forEach((frame, at) => {
      frame.group.addEventListener('click', () => { choose(at); zoom(at === zoomed && frame.parent >= 0 ? frame.parent : at); });
      frame.group.addEventListener('pointermove', (event) => {
        const { title, path, figures } = words(at);
        show([title, path && 'in ' + path, ...figures].filter(Boolean).join('\n'), event.clientX, event.clientY);
      });
      frame.group.addEventListener('pointerleave', hide);
    });
    box.addEventListener('keydown', (event) => {
      const below = current + 1;
      const go = {
        ArrowLeft: () => choose(sibling(-1)),
        ArrowRight: () => choose(sibling(1)),
        ArrowUp: () => choose(Math.max(0, frames[current].parent)),
        ArrowDown: () => { if (below < frames[current].end && isShown(below)) choose(below); },
        Enter: () => zoom(current),
        Escape: () => { zoom(0); choose(0); },
      }[event.key];
      if (!go || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      go();
    });
  }

  // Pictures of the same kind stand in one place; a button for each shows it.
  function views(box) {
    const figures = all(box, 'figure[data-view]');
    if (figures.length < 2) return;
    const line = document.createElement('div');
    line.className = 'switch';
    line.setAttribute('role', 'group');
    line.setAttribute('aria-label', 'Flame graph of');
    const buttons = figures.map((figure) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = figure.dataset.view === 'cpu' ? 'CPU time by stack' : 'The path';
      button.addEventListener('click', () => choose(figure));
      line.append(button);
      return button;
    });
    function choose(chosen) {
      figures.forEach((figure, at) => {
        figure.hidden = figure !== chosen;
        buttons[at].setAttribute('aria-pressed', String(figure === chosen));
      });
    }
    box.prepend(line);
    choose(figures[0]);
  }

  // All words that are typed have to be in a row. Heads of columns sort.
  function search(table) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows);
    const texts = rows.map((row) => Array.from(row.cells, (cell) => cell.textContent).join(' ').toLowerCase());
    const line = document.createElement('div');
    line.className = 'search';
    const label = document.createElement('label');
    label.append(table.dataset.search + ' ');
    const input = document.createElement('input');
    input.type = 'search';
    const count = document.createElement('span');
    count.setAttribute('role', 'status');
    label.append(input);
    line.append(label, count);
    table.parentElement.before(line);
    function filter() {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, at) => {
        row.hidden = !words.every((word) => texts[at].includes(word));
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = words.length ? shown + ' of ' + rows.length + ' rows' : rows.length + ' rows';
    }
    input.addEventListener('input', filter);
    filter();
    const heads = all(table, 'thead th').filter((head) => head.textContent);
    for (const head of heads) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener('click', () => {
        const isDown = head.getAttribute('aria-sort') !== 'descending';
        heads.forEach((other) => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
        const column = head.cellIndex;
        const value = (row) => (row.cells[column].dataset.v === undefined ? row.cells[column].textContent : Number(row.cells[column].dataset.v));
        const compare = (x, y) => (typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en', { numeric: true }));
        const sorted = rows.slice().sort((x, y) => compare(value(x), value(y)) * (isDown ? -1 : 1));
        body.append(...sorted);
      });
    }
  }
})();
