// The panels beside the scene: what to draw, what is chosen, what to ask, the text of the scene.
//
// Reads: the page.  Writes: its settings; orders.
// Called by: page.

import { plot, tidy } from './charts.js';
import { WAYS } from './colours.js';
import { button, check, choice, el, field, save } from './dom.js';
import { LAYERS, centerOf } from './overlay.js';
import { len } from './vec.js';

const panel = (title, open, ...children) => el('details', { class: 'tp-panel', open }, el('summary', {}, title), ...children);

export function lookPanel(page) {
  const { settings } = page;
  const again = () => page.redraw();
  const layers = Object.entries(LAYERS).map(([name, label]) =>
    check(label, settings.layers[name], (on) => {
      settings.layers[name] = on;
      page.wantContacts();
      again();
    }, `layer-${name}`));
  const arrows = el('input', { type: 'range', id: 'arrows', min: '-2', max: '2', step: '0.1', value: '0', oninput: () => ((settings.arrows = 10 ** Number(arrows.value)), again()) });
  return panel('Look', true,
    field('colour by', choice(WAYS, settings.colour, (v) => ((settings.colour = v), again()), 'colour')),
    el('div', { class: 'tp-checks' }, ...layers.slice(0, 6)),
    el('details', {}, el('summary', {}, 'more layers'), el('div', { class: 'tp-checks' }, ...layers.slice(6),
      check('see through', settings.clear, (on) => ((settings.clear = on), again()), 'clear'),
      check('wireframe', settings.wire, (on) => ((settings.wire = on), again()), 'wire'),
      check('fade walls', settings.fade, (on) => ((settings.fade = on), again()), 'fade'))),
    field('length of arrows', arrows),
    el('p', { class: 'tp-legend' },
      el('span', { class: 'tp-disc' }), ' sticks   ', el('span', { class: 'tp-diamond' }), ' slips   arrows: force on the second body, mean over a frame'));
}

// What is chosen, with its numbers, statistics over a window and a plot.
export class ChosenPanel {
  constructor(page) {
    this.page = page;
    this.body = el('div', { id: 'chosen', 'aria-live': 'polite' });
    this.canvas = el('canvas', { class: 'tp-small', role: 'img', 'aria-label': 'The chosen thing over time' });
    this.window = el('input', { type: 'number', id: 'window', min: '0.01', step: '0.05', value: '0.25', onchange: () => page.redraw() });
    this.follow = button('Follow', 'Keep the eye on this body', () => page.followChosen());
    this.export = button('CSV', 'Save this plot as a table', () => this.save());
    this.tools = el('div', { class: 'tp-row' }, field('window [s]', this.window), this.follow, this.export);
    this.root = panel('Chosen', true, this.body, this.canvas, this.tools);
    this.clear();
  }

  clear() {
    this.body.replaceChildren(el('p', { class: 'tp-hint' }, 'Click a body or a contact point. Hold and drag a body to pull it while the run goes on.'));
    this.canvas.hidden = this.tools.hidden = true;
    this.series = null;
  }

  // The chosen thing in every frame so far.
  gather(pane) {
    const key = JSON.stringify(pane.chosen);
    const { recording } = pane;
    if (!this.series || this.series.key !== key || this.series.recording !== recording) {
      this.series = { key, recording, times: [], lines: pane.chosen.contact ? ['normal', 'tangential'] : ['height', 'speed'], values: [[], []], sliding: [] };
    }
    const s = this.series;
    // A long recording is gathered over several drawings.
    const stop = performance.now() + 25;
    while (s.times.length < recording.frames.length && performance.now() < stop) {
      const i = s.times.length;
      const frame = recording.frames[i];
      s.times.push(frame.time);
      if (pane.chosen.contact) {
        const c = recording.contacts(i).find((x) => x.key === pane.chosen.contact);
        s.values[0].push(c ? c.pressing : NaN);
        s.values[1].push(c ? len(c.friction) : NaN);
        s.sliding.push(c ? c.sliding : null);
      } else {
        const poses = recording.poses(frame);
        const here = centerOf(recording.lists[frame.list], poses, pane.chosen.body);
        s.values[0].push(here[2]);
        s.values[1].push(this.before && i > 0 ? Math.hypot(here[0] - this.before[0], here[1] - this.before[1], here[2] - this.before[2]) / (frame.time - s.times[i - 1]) : 0);
        this.before = here;
      }
    }
    return s;
  }

  // Mean, least and greatest of a line over the window before a time; gaps count as zero force.
  statistics(s, line, time) {
    const from = time - Number(this.window.value);
    const values = s.times.map((t, i) => [t, s.values[line][i]]).filter(([t]) => t > from + 1e-9 && t <= time + 1e-9).map(([, v]) => (Number.isFinite(v) ? v : 0));
    const mean = values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);
    return { mean, least: Math.min(...values), most: Math.max(...values), frames: values.length };
  }

  update(pane, time, span) {
    if (!pane.chosen || !pane.ready) return this.clear();
    this.canvas.hidden = this.tools.hidden = false;
    const rows = pane.chosen.contact ? this.contact(pane) : this.bodyRows(pane);
    const s = this.gather(pane);
    this.numbers = s.lines.map((name, k) => ({ name, ...this.statistics(s, k, time) }));
    const unit = pane.chosen.contact ? 'N' : '';
    for (const n of this.numbers) rows.push([`${n.name}, window`, `mean ${tidy(n.mean)}, ${tidy(n.least)} … ${tidy(n.most)} ${unit}`]);
    this.body.replaceChildren(el('table', {}, ...rows.map(([k, v]) => el('tr', {}, el('th', { scope: 'row' }, k), el('td', {}, v)))));
    plot(this.canvas, s.times, s.lines.map((name, k) => ({ name, values: s.values[k] })), time, span);
  }

  contact(pane) {
    const c = pane.contacts.find((x) => x.key === pane.chosen.contact);
    this.follow.hidden = true;
    if (!c) return [['contact', 'does not touch now']];
    const name = (slot) => pane.bodies[pane.places.get(slot)]?.name ?? `slot ${slot}`;
    const mu = pane.friction(c);
    const tangential = len(c.friction);
    return [
      ['contact', `${name(c.a)} → ${name(c.b)}`],
      ['state', c.sliding ? 'slips' : 'sticks'],
      ['normal force', `${tidy(c.pressing)} N`],
      ['tangential force', `${tidy(tangential)} N`],
      ['of its friction bound', c.pressing > 0 && mu > 0 ? `${tidy((100 * tangential) / (mu * c.pressing))} % of μ N, μ = ${tidy(mu)}` : '–'],
      ['force on B', `(${c.force.map(tidy).join(', ')}) N`],
      ['point', `(${c.point.map(tidy).join(', ')}) m`],
      ['normal', `(${c.normal.map(tidy).join(', ')})`],
    ];
  }

  bodyRows(pane) {
    const i = pane.chosen.body;
    const body = pane.bodies[i];
    this.follow.hidden = false;
    this.follow.textContent = pane.follow === i ? 'Unfollow' : 'Follow';
    const motion = pane.motion(pane.index);
    const on = pane.contacts.filter((c) => c.a === body.slot || c.b === body.slot);
    const force = [0, 1, 2].map((k) => on.reduce((s, c) => s + (c.b === body.slot ? 1 : -1) * c.force[k], 0));
    return [
      ['body', body.name],
      ['kind', body.kind],
      ...(body.mass ? [['mass', `${tidy(body.mass)} kg`]] : []),
      ['centre of mass', `(${centerOf(pane.bodies, pane.poses, i).map(tidy).join(', ')}) m`],
      ['velocity', `(${motion.velocity(i).map(tidy).join(', ')}) m/s`],
      ['spin', `(${motion.spin(i).slice(0, 3).map(tidy).join(', ')}) rad/s`],
      ['contacts', String(on.length)],
      ['contact force', `(${force.map(tidy).join(', ')}) N`],
    ];
  }

  save() {
    const s = this.series;
    const lines = [['time', ...s.lines].join(','), ...s.times.map((t, i) => [t, s.values[0][i], s.values[1][i]].join(','))];
    save('chosen.csv', new Blob([lines.join('\n') + '\n'], { type: 'text/csv' }));
  }
}

// Questions: the same scene with something else.
export class AskPanel {
  constructor(page) {
    this.page = page;
    this.methods = {};
    const number = (id, hint) => el('input', { type: 'text', inputmode: 'decimal', id, placeholder: hint, size: 9 });
    this.method = choice({}, '', () => this.showParams(), 'method');
    this.dt = number('dt', 'as in the scene');
    this.gravity = number('gravity', 'as in the scene');
    this.friction = number('friction', 'as in the scene');
    this.restitution = number('restitution', 'as in the scene');
    this.params = el('div', { class: 'tp-params' });
    this.other = choice({ '': 'one run' }, '', (v) => page.compare(v), 'other');
    this.root = panel('Ask', false,
      el('p', { class: 'tp-hint' }, 'Change something and run again from the same start.'),
      field('method', this.method), field('step [s]', this.dt, 'such as 0.001 or 1/60'), field('gravity, z [m/s²]', this.gravity),
      field('friction', this.friction, 'the same for all pairs'), field('restitution', this.restitution, 'the same for all pairs'),
      el('details', {}, el('summary', {}, 'parameters of the method'), this.params),
      el('div', { class: 'tp-row' }, button('Run again', 'Run again from the start with these values', () => page.rerun(), 'rerun'), button('As written', 'Forget all changes', () => (this.reset(), page.rerun()))),
      field('side by side with', this.other));
  }

  reset() {
    for (const e of [this.dt, this.gravity, this.friction, this.restitution]) e.value = '';
    this.method.value = this.own;
    this.showParams();
  }

  offer(methods, own) {
    if (!Object.keys(methods).length) return;
    const was = this.method.value;
    this.methods = methods;
    this.own ??= own;
    this.method.replaceChildren(...Object.keys(methods).map((m) => el('option', { value: m }, m)));
    this.method.value = was && methods[was] !== undefined ? was : own;
    const half = this.page.other ? this.other.value : '';
    this.other.replaceChildren(...Object.entries({ '': 'one run', ...Object.fromEntries(Object.keys(methods).map((m) => [m, `method ${m}`])), 'dt/2': 'half the step', 'dt*2': 'twice the step' }).map(([v, t]) => el('option', { value: v }, t)));
    this.other.value = half;
    this.showParams();
  }

  showParams() {
    const values = this.methods[this.method.value] || {};
    this.params.replaceChildren(...Object.entries(values).filter(([, v]) => ['number', 'boolean'].includes(typeof v)).map(([name, v]) =>
      typeof v === 'boolean' ? check(name, v, () => {}, `param-${name}`) : field(name, el('input', { type: 'text', id: `param-${name}`, value: String(v), size: 9 }))));
  }

  // What is asked, or an error to show.
  read() {
    const ask = { params: {} };
    if (this.method.value && this.method.value !== this.own) ask.method = this.method.value;
    const take = (input, name, f = (x) => x) => {
      const text = input.value.trim();
      if (!text) return;
      const [a, b] = text.split('/').map(Number);
      const x = b === undefined ? a : a / b;
      if (!Number.isFinite(x)) throw new Error(`${name}: “${text}” is no number`);
      ask[name] = f(x);
    };
    take(this.dt, 'dt');
    take(this.gravity, 'gravity', (z) => [0, 0, z]);
    take(this.friction, 'friction');
    take(this.restitution, 'restitution');
    for (const [name, v] of Object.entries(this.methods[this.method.value] || {})) {
      const input = this.params.querySelector(`#param-${CSS.escape(name)}`);
      if (!input) continue;
      const x = typeof v === 'boolean' ? input.checked : Number(input.value);
      if (x !== v) ask.params[name] = x;
    }
    return ask;
  }
}

// The text of the scene, with its errors.
export class TextPanel {
  constructor(page) {
    this.page = page;
    this.text = el('textarea', { id: 'source', spellcheck: false, 'aria-label': 'Text of the scene', rows: 16, wrap: 'off' });
    this.text.addEventListener('keydown', (e) => (e.ctrlKey || e.metaKey) && e.key === 'Enter' && this.run());
    this.faults = el('ol', { id: 'faults', 'aria-live': 'assertive' });
    this.root = panel('Scene text', false, this.text, el('div', { class: 'tp-row' }, button('Run this text', 'Run the scene as it is written here (Ctrl Enter)', () => this.run(), 'run-text')), this.faults);
  }

  set(source) {
    this.text.value = source;
    this.faults.replaceChildren();
  }

  run() {
    this.faults.replaceChildren();
    this.page.runText(this.text.value);
  }

  show(faults, more) {
    this.root.open = true;
    this.faults.replaceChildren(...faults.map((f) => {
      const where = f.line ? `line ${f.line}, column ${f.column}: ` : '';
      const go = button(`${where}${f.field ? `${f.field}: ` : ''}${f.reason}`, 'Go to this place', () => this.go(f));
      return el('li', {}, go, f.help ? el('small', {}, ` ${f.help}`) : '');
    }));
    if (more) this.faults.append(el('li', {}, `and ${more} more`));
    if (faults[0]?.line) this.go(faults[0]);
  }

  // Marks a place of the text.
  go(f) {
    const lines = this.text.value.split('\n');
    const start = lines.slice(0, f.line - 1).reduce((n, l) => n + l.length + 1, 0) + Math.max(0, f.column - 1);
    const line = lines[f.line - 1] ?? '';
    this.text.focus();
    this.text.setSelectionRange(start, start + Math.max(1, line.length - f.column + 1));
    const height = this.text.scrollHeight / Math.max(1, lines.length);
    this.text.scrollTop = Math.max(0, (f.line - 4) * height);
  }
}
