// Zoom, search and keys. The picture is right without it. Names are read from the picture and only ever set as text.
(() => {
  'use strict';
  const SVG = 'http://www.w3.org/2000/svg';
  const HINT = 'Click a frame to zoom in, Ctrl+F to search, arrow keys to walk';
  const HTML = 'http://www.w3.org/1999/xhtml';
  const script = document.currentScript;
  const svg = (script && script.ownerSVGElement) || document.documentElement;
  const one = (selector) => svg.querySelector(selector);
  const row = Number(svg.dataset.row);
  const up = svg.dataset.up === 'true';
  const total = Number(svg.dataset.total);

  // A weight in the unit of the picture.
  function amount(weight) {
    const text = (figure, digits) =>
      figure.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
    if (svg.dataset.unit === 'count') return text(weight, 0);
    if (svg.dataset.unit === 'bytes') {
      const exponent = Math.min(4, Math.floor(Math.log2(Math.max(weight, 1)) / 10));
      const unit = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'][exponent];
      return text(weight / 2 ** (10 * exponent), exponent ? 3 : 0) + ' ' + unit;
    }
    const time = weight / 1e6;
    return text(time, time < 10 ? 3 : time < 1000 ? 1 : 0) + ' ms';
  }

  // Frames stand in the order of a walk: a frame, then all that it calls. So what is below a frame is one stretch.
  const cells = Array.from(svg.querySelectorAll('.frames > g'), (group) => {
    const rect = group.querySelector('rect');
    const lines = group.querySelector('title').textContent.split('\n');
    const number = (name) => parseFloat(rect.getAttribute(name));
    return {
      group,
      rect,
      text: group.querySelector('text'),
      name: Array.from(lines[0]),
      label: lines.length > 2 ? lines[1] + '!' + lines[0] : lines[0],
      figures: lines[lines.length - 1],
      x: number('x'),
      width: number('width'),
      y: number('y'),
      parent: -1,
      end: 0,
      hit: false,
    };
  });
  const index = new Map(cells.map((cell, at) => [cell.group, at]));
  const depth = (at) => Math.round(Math.abs(cells[at].y - cells[0].y) / row);
  const open = [];
  cells.forEach((cell, at) => {
    while (open.length > depth(at)) cells[open.pop()].end = at;
    cell.parent = open.length ? open[open.length - 1] : -1;
    open.push(at);
  });
  open.forEach((at) => { cells[at].end = cells.length; });

  const info = one('.info');
  const head = one('.head');
  let zoomed = 0;
  let at = -1;
  let query = '';
  let status = HINT;

  // The window's width instead of the still picture's.
  const alone = svg === document.documentElement;
  const height = svg.getAttribute('height');
  svg.removeAttribute('viewBox');
  svg.setAttribute('width', '100%');
  svg.setAttribute('height', height);
  svg.setAttribute('tabindex', '0');
  const margin = 10;
  const pixels = () => svg.getBoundingClientRect().width || 1200;
  const rows = one('.frames');

  let character = 7.25;
  const measure = () => {
    const probe = document.createElementNS(SVG, 'text');
    probe.textContent = 'mmmmmmmmmmmmmmmmmmmm';
    rows.appendChild(probe);
    character = probe.getComputedTextLength() / 20 || character;
    probe.remove();
  };

  function place(cell, x, width, scale) {
    cell.group.style.display = '';
    cell.rect.setAttribute('x', x + '%');
    cell.rect.setAttribute('width', width + '%');
    cell.group.classList.toggle('thin', width * scale < 3);
    const room = Math.floor((width * scale - 7) / character);
    if (room < 3) {
      if (cell.text) cell.text.style.display = 'none';
      return;
    }
    if (!cell.text) {
      cell.text = document.createElementNS(SVG, 'text');
      cell.text.setAttribute('y', String(cell.y + 13));
      cell.text.setAttribute('dx', '4');
      cell.group.appendChild(cell.text);
    }
    cell.text.style.display = '';
    cell.text.setAttribute('x', x + '%');
    cell.text.textContent =
      cell.name.length <= room ? cell.name.join('') : cell.name.slice(0, room - 1).join('') + '…';
  }

  function draw() {
    const focus = cells[zoomed];
    const scale = (pixels() - 2 * margin) / 100;
    rows.setAttribute('width', String(scale * 100));
    cells.forEach((cell, i) => {
      const caller = i < zoomed && cell.end > zoomed;
      cell.group.classList.toggle('out', caller);
      if (caller || i === zoomed) place(cell, 0, 100, scale);
      else if (i > zoomed && i < focus.end) {
        place(cell, ((cell.x - focus.x) / focus.width) * 100, (cell.width / focus.width) * 100, scale);
      } else cell.group.style.display = 'none';
    });
    reset.disabled = zoomed === 0;
  }

  function say(text) {
    const room = Math.floor((pixels() - 20) / character);
    const letters = Array.from(text);
    info.textContent = letters.length <= room ? text : letters.slice(0, room - 1).join('') + '…';
  }

  const tell = (i) => say(i < 0 ? status : cells[i].label + '  ' + cells[i].figures);

  function zoom(i) {
    zoomed = i;
    draw();
    show();
  }

  // The line of what is looked for, while nothing is pointed at.
  function show() {
    status = HINT;
    if (query) {
      let frames = 0;
      let part = 0;
      let past = 0;
      cells.forEach((cell, i) => {
        if (!cell.hit) return;
        frames += 1;
        // A match below a match is a part of it.
        if (i >= past) {
          part += cell.width;
          past = cell.end;
        }
      });
      const figure = amount((part / 100) * total);
      status = frames
        ? `Matched: ${part.toFixed(2)} %, ${figure}, in ${frames.toLocaleString('en-US')} frame${frames === 1 ? '' : 's'}`
        : 'No frame matches';
    }
    tell(-1);
  }

  function search(text) {
    query = text.trim().toLowerCase();
    svg.classList.toggle('searching', query !== '');
    for (const cell of cells) {
      cell.hit = query !== '' && cell.label.toLowerCase().includes(query);
      cell.group.classList.toggle('hit', cell.hit);
    }
    show();
  }

  function mark(i) {
    if (i < 0 || i >= cells.length) return;
    if (at >= 0) cells[at].group.classList.remove('at');
    at = i;
    if (cells[i].group.style.display === 'none') zoom(cells[i].parent < 0 ? 0 : cells[i].parent);
    cells[i].group.classList.add('at');
    cells[i].group.scrollIntoView({ block: 'nearest' });
    tell(i);
  }

  // The next frame in the row that is shown, to the left or to the right.
  function beside(step) {
    const wanted = depth(at);
    for (let i = at + step; i >= 0 && i < cells.length; i += step) {
      if (depth(i) === wanted && cells[i].group.style.display !== 'none') return i;
    }
    return at;
  }

  function match(step) {
    for (let n = 1; n <= cells.length; n += 1) {
      const i = (at + step * n + cells.length * 2) % cells.length;
      if (cells[i].hit) return mark(i);
    }
  }

  const tools = document.createElementNS(HTML, 'div');
  tools.setAttribute('class', 'tools');
  const field = document.createElementNS(HTML, 'input');
  field.setAttribute('type', 'search');
  field.setAttribute('placeholder', 'Search (Ctrl+F)');
  field.setAttribute('aria-label', 'Search functions and modules');
  const reset = document.createElementNS(HTML, 'button');
  reset.textContent = 'Reset zoom';
  tools.append(field, reset);
  const frame = document.createElementNS(SVG, 'foreignObject');
  frame.setAttribute('y', '8');
  frame.setAttribute('width', '330');
  frame.setAttribute('height', '36');
  frame.appendChild(tools);
  head.appendChild(frame);
  info.setAttribute('aria-live', 'polite');

  const resize = () => {
    frame.setAttribute('x', String(Math.max(0, pixels() - 330 - margin)));
    draw();
    tell(-1);
  };

  const pointed = (event) => {
    const group = event.target.closest && event.target.closest('.frames > g');
    return group ? index.get(group) : -1;
  };
  svg.addEventListener('mouseover', (event) => tell(pointed(event)));
  svg.addEventListener('mouseleave', () => tell(-1));
  svg.addEventListener('click', (event) => {
    const i = pointed(event);
    if (i < 0) return;
    if (at >= 0) cells[at].group.classList.remove('at');
    at = i;
    zoom(i);
    tell(i);
  });
  field.addEventListener('input', () => search(field.value));
  reset.addEventListener('click', () => zoom(0));
  window.addEventListener('resize', resize);
  if (alone) {
    // What is pointed at and the search stay in sight.
    window.addEventListener('scroll', () => head.setAttribute('transform', `translate(0,${window.scrollY})`));
  }

  document.addEventListener('keydown', (event) => {
    const typing = event.target === field;
    const find = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f';
    if (find || (event.key === '/' && !typing)) {
      field.focus();
      field.select();
    } else if (event.key === 'Escape') {
      if (field.value) {
        field.value = '';
        search('');
      } else zoom(0);
      if (typing) field.blur();
    } else if (event.key === 'Enter' && typing) match(event.shiftKey ? -1 : 1);
    else if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key === (up ? 'ArrowUp' : 'ArrowDown')) mark(at < 0 ? zoomed : at + 1 < cells[at].end ? at + 1 : at);
    else if (event.key === (up ? 'ArrowDown' : 'ArrowUp')) mark(at < 0 ? zoomed : Math.max(0, cells[at].parent));
    else if (event.key === 'ArrowLeft') mark(at < 0 ? zoomed : beside(-1));
    else if (event.key === 'ArrowRight') mark(at < 0 ? zoomed : beside(1));
    else if (event.key === 'Enter' && at >= 0) zoom(at);
    else if (event.key === 'Home') zoom(0);
    else return;
    event.preventDefault();
  });

  measure();
  resize();
  if (alone && up) window.scrollTo(0, document.documentElement.scrollHeight);
})();
