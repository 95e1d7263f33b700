// Charts over time: a line for each number, a cursor at the time that is shown; a click goes there.
//
// Reads: certificates and series.  Writes: canvases.
// Called by: page.

export const CHARTS = [
  {
    id: 'energy', title: 'Energy', unit: 'J',
    lines: [
      { name: 'kinetic', of: (r, i) => r.value(i, 'kinetic') },
      { name: 'potential', of: (r, i) => r.value(i, 'potential') },
      { name: 'elastic', of: (r, i) => r.value(i, 'elastic') || 0 },
      { name: 'sum', of: (r, i) => r.value(i, 'kinetic') + r.value(i, 'potential') + (r.value(i, 'elastic') || 0) },
    ],
  },
  {
    id: 'ledger', title: 'Where energy went', unit: 'J',
    lines: [
      { name: 'friction', sum: true, of: (r, i) => r.value(i, 'friction') },
      { name: 'restitution', sum: true, of: (r, i) => r.value(i, 'restitution') },
      { name: 'drag, joints, shocks', sum: true, of: (r, i) => r.value(i, 'drag') + r.value(i, 'joint_friction') + (r.value(i, 'shock') || 0) + (r.value(i, 'contact_damping') || 0) + (r.value(i, 'numerical_damping') || 0) },
      { name: 'forces, motors', sum: true, of: (r, i) => r.value(i, 'external') + r.value(i, 'motors') + r.value(i, 'prescribed') },
      { name: 'correction', sum: true, of: (r, i) => r.value(i, 'position_correction') },
      { name: 'gained', sum: true, of: (r, i) => r.value(i, 'gained') || 0 },
      { name: 'unexplained', sum: true, of: (r, i) => r.value(i, 'unexplained') },
    ],
  },
  {
    id: 'penetration', title: 'Penetration', unit: 'm', log: true,
    lines: [
      { name: 'left', of: (r, i) => r.value(i, 'penetration') },
      { name: 'found', of: (r, i) => r.value(i, 'penetration_found') },
    ],
  },
  {
    id: 'residuals', title: 'Residuals', unit: 'm/s', log: true,
    lines: [
      { name: 'normal', of: (r, i) => r.value(i, 'complementarity') },
      { name: 'stick and slip', of: (r, i) => r.value(i, 'stick_slip') },
      { name: 'joints', of: (r, i) => r.value(i, 'joint_velocity') },
    ],
  },
  {
    id: 'contacts', title: 'Contacts', unit: 'a step',
    lines: [
      { name: 'contacts', of: (r, i) => r.value(i, 'contacts') },
      { name: 'impacts', of: (r, i) => r.value(i, 'collisions') },
    ],
  },
  {
    id: 'adaptive', title: 'Locked joints: residual R', unit: 'rad²/s²', log: true, when: (r) => r.steps > 0 && r.value(0, 'adaptive_locked') + r.value(0, 'adaptive_moving') > 0,
    lines: [{ name: 'R', of: (r, i) => r.value(i, 'adaptive_residual') || 0 }],
  },
  { id: 'speed', title: 'Cost of a step', unit: 'ms', lines: [{ name: 'wall time', of: (r, i) => r.wall[i] ?? 0 }] },
];

const INKS = ['#d9622b', '#2f7fd0', '#2a9a72', '#b765b3', '#c79a1e', '#c9545d'];
const DASHES = [[], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3]];
const POINTS = 400;

export const tidy = (x) => {
  if (!Number.isFinite(x)) return '–';
  const a = Math.abs(x);
  if (a === 0) return '0';
  return a >= 1e-3 && a < 1e5 ? String(Number(x.toPrecision(4))) : x.toExponential(2);
};

export class Chart {
  // `series(recording)` gives `{times(i), count, lines}` for what is not a certificate.
  constructor(spec, parent, seek) {
    this.spec = spec;
    this.figure = document.createElement('figure');
    this.figure.className = 'tp-chart';
    const caption = document.createElement('figcaption');
    caption.textContent = `${spec.title} [${spec.unit}]`;
    this.values = document.createElement('span');
    this.values.className = 'tp-values';
    caption.append(this.values);
    this.canvas = document.createElement('canvas');
    this.canvas.id = `chart-${spec.id}`;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', `${spec.title} over time; click to go to a time`);
    this.figure.append(caption, this.canvas);
    parent.append(this.figure);
    this.cache = null;
    const at = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return this.span ? Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * this.span : null;
    };
    let down = false;
    this.canvas.addEventListener('pointerdown', (e) => {
      down = true;
      this.canvas.setPointerCapture(e.pointerId);
      if (at(e) !== null) seek(at(e));
    });
    this.canvas.addEventListener('pointermove', (e) => down && at(e) !== null && seek(at(e)));
    this.canvas.addEventListener('pointerup', () => (down = false));
  }

  // Points for the canvas: the least and the greatest of each stretch, kept while the run grows.
  gather(recording) {
    const count = recording.steps;
    if (!this.cache || this.cache.recording !== recording || count < this.cache.count) {
      this.cache = { recording, count: 0, stride: 1, lines: this.spec.lines.map(() => ({ low: [], high: [], total: 0 })) };
    }
    const c = this.cache;
    for (let i = c.count; i < count; i++) {
      const bin = Math.floor(i / c.stride);
      this.spec.lines.forEach((line, k) => {
        const l = c.lines[k];
        let v = line.of(recording, i);
        if (line.sum) v = l.total += v;
        if (this.spec.log) v = Math.abs(v);
        l.low[bin] = Math.min(l.low[bin] ?? Infinity, v);
        l.high[bin] = Math.max(l.high[bin] ?? -Infinity, v);
      });
      if (bin >= 2 * POINTS) {
        c.stride *= 2;
        for (const l of c.lines) {
          const pair = (list, f) => list.filter((_, j) => j % 2 === 0).map((x, j) => f(x, list[2 * j + 1] ?? x));
          l.low = pair(l.low, Math.min);
          l.high = pair(l.high, Math.max);
        }
      }
    }
    c.count = count;
    return c;
  }

  draw(recording, time, span) {
    // Some charts are for some runs alone.
    this.figure.hidden = this.spec.when !== undefined && !this.spec.when(recording);
    if (this.figure.hidden) return;
    const c = this.gather(recording);
    this.span = span;
    const box = this.canvas.getBoundingClientRect();
    if (!box.width) return;
    const ratio = Math.min(2, devicePixelRatio);
    const [w, h] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) Object.assign(this.canvas, { width: w, height: h });
    const g = this.canvas.getContext('2d');
    g.clearRect(0, 0, w, h);
    let [low, high] = [Infinity, -Infinity];
    for (const l of c.lines) {
      for (let i = 0; i < l.low.length; i++) {
        if (this.spec.log && !(l.high[i] > 0)) continue;
        low = Math.min(low, this.spec.log ? Math.max(l.low[i], l.high[i] * 1e-3, 1e-16) : l.low[i]);
        high = Math.max(high, l.high[i]);
      }
    }
    if (!(low <= high)) [low, high] = [0, 1];
    if (this.spec.log) [low, high] = [Math.log10(low), Math.log10(Math.max(high, 1e-16))];
    else low = Math.min(low, 0);
    if (high - low < 1e-12) high = low + (this.spec.log ? 1 : Math.abs(low) || 1);
    const y = (v) => h - 3 - ((v - low) / (high - low)) * (h - 6);
    const dt = recording.header.dt;
    const x = (i) => ((i * c.stride + 1) * dt * w) / span;
    const ink = getComputedStyle(this.canvas).getPropertyValue('color');
    g.strokeStyle = ink;
    g.globalAlpha = 0.25;
    g.beginPath();
    g.moveTo(0, y(this.spec.log ? low : Math.max(0, low)));
    g.lineTo(w, y(this.spec.log ? low : Math.max(0, low)));
    g.stroke();
    g.globalAlpha = 1;
    g.lineWidth = 1.5 * ratio;
    c.lines.forEach((l, k) => {
      g.strokeStyle = INKS[k % INKS.length];
      g.setLineDash(DASHES[k % DASHES.length].map((d) => d * ratio));
      g.beginPath();
      const f = (v) => y(this.spec.log ? Math.log10(Math.max(v, 10 ** low)) : v);
      for (let i = 0; i < l.low.length; i++) {
        g.lineTo(x(i), f(l.low[i]));
        if (l.high[i] !== l.low[i]) g.lineTo(x(i), f(l.high[i]));
      }
      g.stroke();
    });
    g.setLineDash([]);
    g.strokeStyle = ink;
    g.lineWidth = ratio;
    const now = (time / span) * w;
    g.beginPath();
    g.moveTo(now, 0);
    g.lineTo(now, h);
    g.stroke();
    this.say(c, time, dt);
  }

  // Title and values in one line of plain text.
  get plain() {
    const now = Object.entries(this.now ?? {}).map(([name, v]) => `${name} ${tidy(v)}`);
    return `${this.spec.title} [${this.spec.unit}]: ${now.join(', ')}`;
  }

  say(c, time, dt) {
    const bin = Math.min(c.lines[0].high.length - 1, Math.max(0, Math.floor((time / dt - 0.5) / c.stride)));
    this.now = Object.fromEntries(this.spec.lines.map((line, k) => [line.name, c.lines[k].high[bin] ?? 0]));
    const html = this.spec.lines.map((line, k) => `<span class="tp-ink${k}">${line.name} <b>${tidy(this.now[line.name])}</b></span>`);
    const text = html.join(' ');
    if (text !== this.said) this.values.innerHTML = this.said = text;
  }
}

// A small chart of one thing over the frames, for what is chosen.
export function plot(canvas, times, lines, time, span) {
  const ratio = Math.min(2, devicePixelRatio);
  const box = canvas.getBoundingClientRect();
  if (!box.width) return;
  Object.assign(canvas, { width: Math.round(box.width * ratio), height: Math.round(box.height * ratio) });
  const g = canvas.getContext('2d');
  const { width: w, height: h } = canvas;
  const all = lines.flatMap((l) => l.values).filter(Number.isFinite);
  let low = Math.min(0, ...all.slice(-20000));
  let high = Math.max(0, ...all.slice(-20000));
  if (high - low < 1e-12) high = low + 1;
  lines.forEach((l, k) => {
    g.strokeStyle = INKS[k];
    g.lineWidth = 1.5 * ratio;
    g.setLineDash(DASHES[k].map((d) => d * ratio));
    g.beginPath();
    let pen = false;
    l.values.forEach((v, i) => {
      if (!Number.isFinite(v)) pen = false;
      else {
        const [x, y] = [(times[i] / span) * w, h - 3 - ((v - low) / (high - low)) * (h - 6)];
        if (pen) g.lineTo(x, y);
        else g.moveTo(x, y);
        pen = true;
      }
    });
    g.stroke();
  });
  g.setLineDash([]);
  g.strokeStyle = getComputedStyle(canvas).color;
  g.lineWidth = ratio;
  g.beginPath();
  g.moveTo((time / span) * w, 0);
  g.lineTo((time / span) * w, h);
  g.stroke();
}

// Plots below each other with their titles, as one picture.
export function stack(plots, ground, ink) {
  const ratio = Math.min(2, devicePixelRatio);
  const [title, gap] = [18 * ratio, 8 * ratio];
  const picture = document.createElement('canvas');
  picture.width = Math.max(...plots.map((p) => p.canvas.width)) + 2 * gap;
  picture.height = plots.reduce((h, p) => h + p.canvas.height + title + gap, gap);
  const g = picture.getContext('2d');
  g.fillStyle = ground;
  g.fillRect(0, 0, picture.width, picture.height);
  g.fillStyle = ink;
  g.font = `${11 * ratio}px sans-serif`;
  let y = gap;
  for (const p of plots) {
    g.fillText(p.title, gap, y + 0.7 * title, picture.width - 2 * gap);
    g.drawImage(p.canvas, gap, y + title);
    y += p.canvas.height + title + gap;
  }
  return picture;
}
