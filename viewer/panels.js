// The panels beside the scene: what to draw, what to ask, the text of the scene.
//
// Reads: the page.  Writes: its settings; orders.
// Called by: page.

import { WAYS } from './colours.js';
import { button, check, choice, el, field, panel } from './dom.js';
import { LAYERS } from './overlay.js';

// What force arrows stand for.
const ARROWS_OF = { frame: 'mean force, frame', window: 'mean force, window', impulse: 'impulse, frame' };

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
    field('colour by', choice(WAYS, settings.colour, (v) => ((settings.colour = v), page.wantContacts(), again()), 'colour')),
    (page.colourKey = el('p', { class: 'tp-legend', id: 'colour-key' })),
    el('div', { class: 'tp-checks' }, ...layers.slice(0, 6)),
    el('details', {}, el('summary', {}, 'more layers'), el('div', { class: 'tp-checks' }, ...layers.slice(6),
      check('see through', settings.clear, (on) => ((settings.clear = on), again()), 'clear'),
      check('wireframe', settings.wire, (on) => ((settings.wire = on), again()), 'wire'),
      check('fade walls', settings.fade, (on) => ((settings.fade = on), again()), 'fade'))),
    field('arrows show', choice(ARROWS_OF, settings.arrowsOf, (v) => ((settings.arrowsOf = v), again()), 'arrows-of'), 'on the second body of the contact'),
    field('length of arrows', arrows),
    field('details', choice({ auto: 'all, fewer if slow', all: 'all', few: 'fewest' }, settings.details, (v) => ((settings.details = v), again()), 'details'), 'shadows, round shapes, pixels'),
    el('p', { class: 'tp-legend' }, el('span', { class: 'tp-disc' }), ' sticks · ', el('span', { class: 'tp-diamond' }), ' slips · arrows act on the second body'));
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
