// What is chosen, with its numbers, statistics over a window of time and a plot; the whole scene where nothing is.
//
// Reads: a pane and its recording.  Writes: a panel.
// Called by: page.

import { plot, tidy } from './charts.js';
import { answers } from './colours.js';
import { button, el, field, panel, save } from './dom.js';
import { centerOf } from './overlay.js';
import { overWindow, windowStart } from './statistics.js';
import { len } from './vec.js';

const GATHER_MS = 25; // spent on a long plot in one drawing
const PERIOD_MS = 150; // numbers that change faster cannot be read
const JOINTS_SHOWN = 6;

// Components that are rounding beside the largest are written as zero.
const vector = (v, unit) => `(${v.map((x) => tidy(Math.abs(x) < 1e-9 * len(v) ? 0 : x)).join(', ')}) ${unit}`;

export class ChosenPanel {
  constructor(page) {
    this.page = page;
    this.body = el('div', { id: 'chosen', 'aria-live': 'polite' });
    this.canvas = el('canvas', { id: 'plot', class: 'tp-small', role: 'img', 'aria-label': 'The chosen thing over time' });
    this.legend = el('p', { class: 'tp-values tp-hint' });
    this.window = el('input', { type: 'number', id: 'window', min: '0.01', step: '0.05', value: String(page.settings.window), onchange: () => this.setWindow() });
    this.follow = button('Follow', 'Keep the eye on this body', () => page.followChosen(), 'follow');
    this.table = button('CSV', 'Save this plot as a table', () => this.save(), 'save-plot');
    this.picture = button('PNG', 'Save this plot as a picture', () => page.saveStack('chosen.png', [{ title: this.legend.textContent, canvas: this.canvas }]), 'save-plot-picture');
    this.over = el('div', { id: 'statistics' });
    this.root = panel('Numbers', true, this.body, this.canvas, this.legend, el('div', { class: 'tp-row' }, this.follow, this.table, this.picture), field('statistics over [s]', this.window, 'length of the window before the time shown'), this.over);
    this.series = null;
    this.numbers = null;
  }

  setWindow() {
    const length = Number(this.window.value);
    if (length > 0) this.page.settings.window = length;
    this.page.redraw();
  }

  // The chosen thing in every frame so far; true when all is there.
  gather(pane) {
    const key = JSON.stringify(pane.chosen);
    const { recording } = pane;
    if (!this.series || this.series.key !== key || this.series.recording !== recording) {
      const lines = pane.chosen.contact ? ['normal [N]', 'tangential [N]'] : ['height [m]', 'speed [m/s]'];
      this.series = { key, recording, times: [], lines, values: [[], []], before: null };
    }
    const s = this.series;
    // A long recording is gathered over several drawings.
    const stop = performance.now() + GATHER_MS;
    while (s.times.length < recording.frames.length && performance.now() < stop) {
      const i = s.times.length;
      const frame = recording.frames[i];
      s.times.push(frame.time);
      if (pane.chosen.contact) {
        const c = recording.contacts(i).find((x) => x.key === pane.chosen.contact);
        s.values[0].push(c ? c.pressing : NaN);
        s.values[1].push(c ? len(c.friction) : NaN);
      } else {
        const bodies = recording.lists[frame.list];
        const here = bodies[pane.chosen.body] ? centerOf(bodies, recording.poses(frame), pane.chosen.body) : [NaN, NaN, NaN];
        s.values[0].push(here[2]);
        s.values[1].push(s.before ? Math.hypot(...here.map((x, k) => x - s.before[k])) / (frame.time - s.times[i - 1]) : NaN);
        s.before = here;
      }
    }
    return s.times.length === recording.frames.length;
  }

  update(pane, time, span) {
    if (!pane.ready || !this.root.open) return;
    const { chosen } = pane;
    const now = performance.now();
    const { playing } = this.page;
    const same = this.last?.chosen === chosen && this.last?.playing === playing;
    if (playing && same && now < this.last.next) return;
    this.body.setAttribute('aria-live', playing ? 'off' : 'polite');
    this.write(pane, time, span);
    // A scene with very many contacts is not slowed down by its own numbers.
    this.last = { chosen, playing, next: performance.now() + Math.max(PERIOD_MS, 10 * (performance.now() - now)) };
  }

  write(pane, time, span) {
    const { chosen } = pane;
    for (const e of [this.canvas, this.legend, this.table, this.picture]) e.hidden = !chosen;
    this.follow.hidden = chosen?.body === undefined;
    this.statistics(pane);
    if (!chosen) {
      this.series = null;
      if (this.body.dataset.of !== 'nothing') this.body.replaceChildren(el('p', { class: 'tp-hint' }, 'Click a body or a contact point, or press b or c. Hold and drag a body to pull it while the run goes on.'));
      this.body.dataset.of = 'nothing';
      return;
    }
    this.body.dataset.of = 'something';
    this.body.replaceChildren(rowsOf(chosen.contact ? this.contact(pane) : this.bodyRows(pane)));
    if (!this.gather(pane)) this.page.redraw();
    const s = this.series;
    this.legend.replaceChildren(...s.lines.map((name, k) => el('span', { class: `tp-ink${k}` }, name)));
    plot(this.canvas, s.times, s.lines.map((name, k) => ({ name, values: s.values[k] })), time, span);
  }

  // Contact forces over the window before the time shown: of the contact, on the body, or of the whole scene.
  statistics(pane) {
    const { chosen, recording, index, bodies } = pane;
    const { window } = this.page.settings;
    const moves = (slot) => answers(bodies[pane.places.get(slot)]);
    const slot = bodies[chosen?.body]?.slot;
    const sign = chosen?.contact
      ? (c) => (c.key === chosen.contact ? 1 : null)
      : chosen ? (c) => (c.b === slot ? 1 : c.a === slot ? -1 : null)
      : (c) => Number(moves(c.b) && !moves(c.a)) - Number(moves(c.a) && !moves(c.b));
    const s = (this.numbers = overWindow(recording, index, window, sign));
    const what = chosen?.contact ? 'mean force on B' : chosen ? 'mean contact force on it' : 'mean force of fixed bodies on moving ones';
    const rows = [
      ['window', `${tidy(s.span)} s, ${s.frames} frames`],
      [what, vector(s.force, 'N')],
      ['total impulse', vector(s.impulse, 'N·s')],
      ['Σ|normal|, Σ|tangential|', `${tidy(s.normal)}, ${tidy(s.tangential)} N·s`],
      ['greatest force of a contact', `${tidy(s.greatest)} N`],
      ['slips', s.steps ? `${tidy(100 * s.sliding)} % of ${s.steps} impulses` : '–'],
      ['centre of pressure', s.normal > 0 ? vector(s.center, 'm') : '–'],
    ];
    if (!chosen) {
      const lost = (name) => this.sum(recording, index, window, name);
      rows.push(['lost to friction, restitution', recording.steps ? `${tidy(lost('friction'))}, ${tidy(lost('restitution'))} J` : '–']);
    }
    this.over.replaceChildren(recording.header.contacts || recording.frames[index].contacts?.length ? rowsOf(rows) : el('p', { class: 'tp-hint' }, 'No contacts in this recording: turn on a layer of contacts, or set contacts = true under [record].'));
  }

  // A column of the certificates, summed over the window.
  sum(recording, index, window, name) {
    const { frames } = recording;
    let total = 0;
    for (let i = frames[windowStart(recording, index, window)].rows; i < frames[index].rows; i++) total += recording.value(i, name);
    return total;
  }

  contact(pane) {
    const c = pane.contacts.find((x) => x.key === pane.chosen.contact);
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
      ['force on B', vector(c.force, 'N')],
      ['point', vector(c.point, 'm')],
      ['normal', vector(c.normal, '')],
    ];
  }

  bodyRows(pane) {
    const i = pane.chosen.body;
    const body = pane.bodies[i];
    this.follow.textContent = pane.follow === i ? 'Unfollow' : 'Follow';
    const motion = pane.motion(pane.index);
    const on = pane.contacts.filter((c) => c.a === body.slot || c.b === body.slot);
    const force = [0, 1, 2].map((k) => on.reduce((s, c) => s + (c.b === body.slot ? 1 : -1) * c.force[k], 0));
    return [
      ['body', body.name],
      ['kind', body.kind],
      ...(body.mass ? [['mass', `${tidy(body.mass)} kg`]] : []),
      ['centre of mass', vector(centerOf(pane.bodies, pane.poses, i), 'm')],
      ['velocity', vector(motion.velocity(i), 'm/s')],
      ['spin', vector(motion.spin(i).slice(0, 3), 'rad/s')],
      ['contacts', String(on.length)],
      ['contact force', vector(force, 'N')],
      ...this.jointRows(pane, body.slot),
    ];
  }

  // Reactions of the joints of a body, as forces and torques on it.
  jointRows(pane, slot) {
    const frame = pane.recording.frames[pane.index];
    if (!frame.reactions) return [];
    const rows = [];
    pane.recording.joints(frame).forEach((j, k) => {
      if (j.body_a !== slot && j.body_b !== slot) return;
      const part = (at) => [0, 1, 2].map((i) => (j.body_b === slot ? 1 : -1) * frame.reactions[6 * k + at + i]);
      rows.push([`joint ${j.name}`, `${vector(part(0), 'N')}, ${vector(part(3), 'N·m')}`]);
    });
    return rows.slice(0, JOINTS_SHOWN);
  }

  save() {
    while (!this.gather(this.page.main));
    const s = this.series;
    const lines = [['time', ...s.lines].join(','), ...s.times.map((t, i) => [t, s.values[0][i], s.values[1][i]].map((x) => (Number.isNaN(x) ? '' : x)).join(','))];
    save('chosen.csv', new Blob([`${lines.join('\n')}\n`], { type: 'text/csv' }));
  }
}

const rowsOf = (rows) => el('table', {}, ...rows.map(([k, v]) => el('tr', {}, el('th', { scope: 'row' }, k), el('td', {}, v))));
