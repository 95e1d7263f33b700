// The page: gallery, scene, time, panels.
//
// Reads: the user.  Writes: everything that is seen.
// Called by: main.

import { CHARTS, Chart, stack, tidy } from './charts.js';
import { Camera } from './camera.js';
import { DETAILS } from './draw.js';
import { button, check, choice, el, icon, save } from './dom.js';
import { ChosenPanel } from './chosen.js';
import { keys, watchPointer } from './input.js';
import { Pane } from './pane.js';
import { AskPanel, TextPanel, lookPanel } from './panels.js';
import { contactTable } from './statistics.js';

const CHARTS_MS = 100; // between two drawings of the charts while a run plays, at least
const PACE_MS = 8; // between two looks at the clock
const ELAPSED_MAX = 0.25; // a page that was held up does not make up for more [s]
const SLOW_MS = 45; // of the graphics for a drawing: slower ones get fewer details
const SLOW_SUM = 6; // times that, together
const STILL_MS = 400; // after which what stands still is drawn with all details,
const STILL_SLOW_MS = 100; // unless few of them took longer than this
const WAIT_TOLD = 0.2; // wait for the server that is told [s]
const FRAME_MS = 1000 / 60; // cost of a step that is told [ms]
const LEAD = 0.2; // simulated ahead of what is shown [s of wall time]
const SLACK = 1e-3; // of a step: times are sums of steps
const SPEEDS = { 0.01: '1/100', 0.1: '1/10', 0.25: '1/4', 0.5: '1/2', 1: 'real time', 2: '2 ×', 4: '4 ×', 10: '10 ×' };

export class Page {
  constructor(root) {
    this.root = root;
    this.time = 0;
    this.playing = false;
    this.speed = 1;
    this.loop = false;
    this.resting = false; // whether the shown time goes to where the run comes to rest
    this.camera = new Camera();
    this.panes = [];
    this.settings = {
      colour: 'body', arrows: 1, arrowsOf: 'frame', window: 0.25, clear: false, wire: false, fade: true, details: 'auto', strength: 10,
      look: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
      layers: { contacts: true, forces: true },
    };
    this.build();
    try {
      this.panes = [this.makePane(this.canvas)];
      this.works = true;
    } catch (e) {
      this.works = false;
      this.tell(e.message === 'no WebGL2'
        ? 'This browser gives the page no WebGL2, which it needs to draw. Turn on graphics acceleration or use another browser. “tippe render” makes pictures without any.'
        : `The page cannot draw: ${e.message}`, true);
      return;
    }
    this.dirty = true;
    this.detail = 0; // how much is drawn while something moves
    this.drawn = { detail: 0, at: 0, ms: 0, slow: 0, next: 0 };
    this.last = performance.now();
    // Time goes on, and more is asked for, whether or not the browser gives a frame: a slow drawing does not hold up the run.
    setInterval(() => document.hidden || this.pace(), PACE_MS);
    const tick = (now) => {
      this.pace();
      this.paint(now);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  get main() {
    return this.panes[0];
  }

  get other() {
    return this.panes[1] || null;
  }

  get recording() {
    return this.main?.recording;
  }

  makePane(canvas) {
    const pane = new Pane(canvas, this.camera, this.settings, {
      news: () => this.news(pane),
      answer: (a) => this.answer(pane, a),
      line: (s) => this.line(s),
    });
    watchPointer(this, pane);
    canvas.addEventListener('webglcontextlost', () => this.tell('The browser has taken the graphics away from this page. Reload it to go on.', true));
    return pane;
  }

  // ---- elements --------------------------------------------------------------------------------------------------------------

  build() {
    document.documentElement.dataset.look = this.settings.look;
    this.title = el('h1', {}, 'Tippe');
    this.subtitle = el('p', { class: 'tp-sub' });
    this.message = el('div', { id: 'message', role: 'alert', hidden: true });
    this.lineState = el('span', { id: 'line', role: 'status' });
    this.gallery = el('section', { id: 'gallery', hidden: true, 'aria-label': 'Scenes' });
    this.canvas = el('canvas', { id: 'scene', tabIndex: 0, role: 'application', 'aria-label': 'The scene. Arrow keys turn the view, plus and minus zoom, space plays and pauses, b chooses the next body, c the next contact, escape none.' });
    this.views = el('div', { class: 'tp-views' }, el('div', { class: 'tp-view' }, this.canvas, (this.caption = el('span', { class: 'tp-caption' })),
      (this.busy = el('span', { id: 'computing', class: 'tp-busy', role: 'status', hidden: true })),
      (this.less = el('span', { id: 'less', class: 'tp-less', role: 'status', hidden: true }, 'drawn with fewer details: this browser draws slowly'))));
    this.play = button(icon('play'), 'Play (space)', () => this.toggle(), 'play');
    this.slider = el('input', { type: 'range', id: 'time', min: 0, max: 1, step: 'any', value: 0, 'aria-label': 'Time', oninput: () => this.seek(Number(this.slider.value)) });
    this.clock = el('output', { id: 'clock' });
    const speeds = choice(SPEEDS, '1', (v) => (this.speed = Number(v)), 'speed');
    speeds.setAttribute('aria-label', 'Speed');
    this.jump = choice({ impact: 'impact', slip: 'begin of slip', cap: 'cap hit', begin: 'new touch' }, 'impact', () => {}, 'event');
    this.jump.setAttribute('aria-label', 'Kind of event');
    const bar = el('div', { class: 'tp-bar', role: 'group', 'aria-label': 'Time' },
      button(icon('start'), 'To the start (Home)', () => this.seek(0), 'start'), button(icon('back'), 'One frame back (,)', () => this.stepBack(), 'back'), this.play,
      button(icon('on'), 'One step on (.)', () => this.stepOn(), 'step'), this.slider, this.clock, speeds,
      el('span', { class: 'tp-group' }, button(icon('before'), 'The event before', () => this.event(-1), 'event-before'), this.jump, button(icon('next'), 'The next event', () => this.event(1), 'event-next')),
      check('loop', false, (on) => (this.loop = on), 'loop'));
    this.charts = [];
    const charts = el('div', { class: 'tp-charts' });
    this.chartPanel = el('details', { class: 'tp-panel', open: true }, el('summary', {}, 'Charts'), charts,
      el('div', { class: 'tp-row' }, el('span', { class: 'tp-hint' }, 'save'), button('steps CSV', 'Save the certificates of all steps as a table', () => this.saveTable(), 'save-steps'),
        button('contacts CSV', 'Save all contacts of all frames, with their forces, as a table', () => this.saveContacts(), 'save-contacts'), button('charts PNG', 'Save the charts as a picture', () => this.saveCharts(), 'save-charts'),
        button('scene PNG', 'Save the picture of the scene', () => this.savePicture(), 'save-scene'), button('recording', 'Save what was recorded, to replay with “tippe view”', () => this.saveRecording(), 'save-recording')));
    this.charts = CHARTS.map((spec) => new Chart(spec, charts, (t) => this.seek(t)));
    this.chosenPanel = new ChosenPanel(this);
    this.askPanel = new AskPanel(this);
    this.textPanel = new TextPanel(this);
    this.side = el('aside', { class: 'tp-side', 'aria-label': 'Panels' }, lookPanel(this), this.chosenPanel.root, this.chartPanel, this.askPanel.root, this.textPanel.root);
    this.stage = el('div', { class: 'tp-stage', role: 'region', 'aria-label': 'Scene and time', hidden: true }, this.views, bar);
    const head = el('header', { class: 'tp-head' },
      (this.home = button(icon('menu'), 'All scenes', () => this.showGallery(), 'home')), el('div', { class: 'tp-names' }, this.title, this.subtitle), this.lineState,
      button(icon('fit'), 'Show the whole scene (f)', () => this.refit(), 'fit'), button(icon('light'), 'Light or dark', () => this.turnLight(), 'light'));
    this.root.append(head, this.message, this.gallery, this.stage, this.side);
    this.side.hidden = true;
    window.addEventListener('keydown', (e) => keys(this, e));
    window.addEventListener('resize', () => this.redraw());
  }

  tell(text, bad = false) {
    this.message.hidden = !text;
    this.message.textContent = text;
    this.message.classList.toggle('tp-bad', bad);
  }

  turnLight() {
    this.settings.look = this.settings.look === 'dark' ? 'light' : 'dark';
    document.documentElement.dataset.look = this.settings.look;
    this.redraw();
  }

  // ---- gallery ---------------------------------------------------------------------------------------------------------------

  async showGallery() {
    this.pause();
    let list;
    try {
      list = await (await fetch('gallery.json')).json();
    } catch {
      this.tell('The server does not answer: the gallery comes from it. Start “tippe view” again and reload this page.', true);
      return;
    }
    this.title.textContent = 'Tippe';
    this.subtitle.textContent = 'Rigid bodies whose contacts are right, fast, and show their own error. Choose a scene.';
    const card = (s) => el('button', { type: 'button', class: 'tp-card', 'data-scene': s.file, onclick: () => this.openScene({ scene: s.file }) },
      el('img', { src: s.picture, alt: '', loading: 'lazy' }), el('strong', {}, s.name), el('span', {}, s.description), el('small', {}, `${s.bodies} bodies`));
    this.gallery.replaceChildren(...list.map(card));
    this.gallery.hidden = false;
    this.stage.hidden = this.side.hidden = true;
    this.root.dataset.show = 'gallery';
    this.tell('');
  }

  showStage() {
    this.gallery.hidden = true;
    this.stage.hidden = this.side.hidden = false;
    this.root.dataset.show = 'scene';
  }

  // ---- runs ------------------------------------------------------------------------------------------------------------------

  // Opens a scene of the gallery, the scene of the command line, or a text, live.
  openScene(order, play = true) {
    this.order = order;
    this.askPanel.own = undefined;
    this.askPanel.reset();
    this.fresh = true;
    this.begin(play);
    this.main.open(order);
  }

  begin(play) {
    this.closeOther();
    this.showStage();
    this.tell('');
    this.time = 0;
    this.playing = play;
    this.resting = false;
    this.main.chosen = this.main.follow = null;
    this.detail = 0;
    this.main.halt();
  }

  // Runs the same scene again with what is asked.
  rerun() {
    let ask;
    try {
      ask = this.askPanel.read();
    } catch (e) {
      this.tell(e.message, true);
      return;
    }
    const other = this.other && this.askPanel.other.value;
    this.begin(true);
    this.main.open({ ...this.order, ask });
    if (other) this.beside(other, ask);
  }

  runText(text) {
    this.order = { ...this.order, text, json: false };
    this.fresh = false;
    this.rerun();
  }

  // Two runs side by side, both from the start: what a hand did to the first is no part of the question.
  compare(what) {
    this.closeOther();
    if (!what || !this.recording?.header) return;
    let ask;
    try {
      ask = this.askPanel.read();
    } catch (e) {
      this.tell(e.message, true);
      return;
    }
    this.resting = false;
    if (this.main.live) this.main.open({ ...this.order, ask });
    this.beside(what, ask);
  }

  // A second run beside the first: another method or another step.
  beside(what, asked) {
    this.askPanel.other.value = what;
    const canvas = el('canvas', { tabIndex: 0, role: 'application', 'aria-label': 'The scene again, by another method or step' });
    this.views.append(el('div', { class: 'tp-view' }, canvas, el('span', { class: 'tp-caption' })));
    const pane = this.makePane(canvas);
    this.panes.push(pane);
    const ask = { ...asked };
    const dt = asked.dt ?? this.recording.header.dt;
    if (what === 'dt/2') ask.dt = dt / 2;
    else if (what === 'dt*2') ask.dt = dt * 2;
    else {
      ask.method = what;
      ask.params = {};
    }
    this.time = 0;
    pane.open({ ...this.order, ask });
    this.redraw();
  }

  closeOther() {
    while (this.panes.length > 1) {
      const pane = this.panes.pop();
      pane.connection?.close();
      pane.canvas.parentElement.remove();
    }
    this.askPanel.other.value = '';
  }

  async replayFrom(address) {
    const answer = await fetch(address);
    this.replay(new Uint8Array(await answer.arrayBuffer()));
  }

  replay(bytes) {
    this.showStage();
    this.fresh = true;
    try {
      this.main.replay(bytes);
    } catch (e) {
      this.tell(e.message, true);
      return;
    }
    this.opened = performance.now(); // since the page was asked for [ms]
    const r = this.recording;
    if (!this.main.ready) this.tell('This recording holds no frame.', true);
    else if (r.problem === 'unfinished') this.tell(`This recording has no end: the run was killed or still goes on. It is shown up to ${tidy(r.duration)} s.`);
    else if (r.problem) this.tell(`This recording is ${r.problem} after ${tidy(r.duration)} s; everything before is here.`);
    else if (r.ending.stopped) this.tell(`The run ended early: ${r.ending.stopped}`);
    this.playing = this.main.ready;
    // With a server, the recorded scene can be run again.
    this.order = r.header ? { text: JSON.stringify(r.header.scene), json: true } : null;
    if (!location.protocol.startsWith('http')) this.askPanel.root.hidden = this.textPanel.root.hidden = this.home.hidden = true;
  }

  answer(pane, a) {
    if (a.say === 'opened') {
      this.methodsOffered = a.methods;
      if (a.offset > 0) {
        this.tell('');
        pane.asked = 0;
      }
      if (!this.playing) pane.halt();
      if (a.warnings.length && pane === this.main) this.tell(`Warning: ${a.warnings[0].reason}`);
    } else if ((a.say === 'faults' || a.say === 'refused') && pane !== this.main && !pane.ready) {
      const reason = a.reason ?? `${a.faults[0]?.field} ${a.faults[0]?.reason}`;
      this.closeOther();
      this.tell(`No second run: ${reason}`, true);
    } else if (a.say === 'faults') {
      this.playing = false;
      this.textPanel.show(a.faults, a.more);
      this.tell(`The scene was refused: ${a.faults[0] ? `${a.faults[0].field} ${a.faults[0].reason}` : ''}`, true);
    } else if (a.say === 'refused') {
      this.tell(a.reason, true);
    } else if (a.say === 'gone') {
      this.playing = false;
      this.tell('The server was started anew. The run up to here is kept; “Run again” begins a new one.');
    } else if (a.say === 'status') {
      if (a.stopped) this.tell(a.stopped, true);
      if (this.resting) this.time = this.edge;
      this.meet();
    }
    this.redraw();
  }

  line(state) {
    this.lineNow = state;
    this.lineState.textContent = { connecting: 'connecting …', open: '', lost: 'connection lost, trying again …' }[state];
    if (state === 'lost') this.tell('The server does not answer. What was received can still be looked at; the page tries to connect again.');
    else if (state === 'open' && this.message.textContent.startsWith('The server does not')) this.tell('');
  }

  // More of a recording has come.
  news(pane) {
    const r = pane.recording;
    if (pane === this.main && r.header && !r.named) {
      r.named = true;
      this.title.textContent = r.header.name;
      this.subtitle.textContent = r.header.description;
      document.title = `${r.header.name} · Tippe`;
      if (this.order?.text === undefined || this.order.json) this.textPanel.set(r.header.source);
      this.askPanel.offer(this.methodsOffered || {}, r.header.method);
    }
    if (pane === this.main && this.fresh && pane.ready) {
      this.fresh = false;
      const dense = r.lists[0].length > 60;
      this.settings.layers.forces = this.settings.layers.contacts = !dense;
      for (const name of ['forces', 'contacts']) document.getElementById(`layer-${name}`).checked = !dense;
      this.settings.layers.joints = false;
      pane.show(0);
      pane.fit();
    }
    if (this.resting) this.time = this.edge;
    this.redraw();
  }

  wantContacts() {
    const { layers } = this.settings;
    const on = layers.contacts || layers.forces || layers.normals || layers.cones || layers.pairs || layers.reactions || this.settings.colour === 'island';
    for (const pane of this.panes) if (pane.ready && pane.recording.lists[0].length > 3000) pane.send({ do: 'contacts', on: Boolean(on) });
  }

  // ---- time ------------------------------------------------------------------------------------------------------------------

  get span() {
    const planned = this.recording?.header?.seconds ?? 1;
    return Math.max(this.main.live ? planned : 0, this.recording?.duration ?? 0, 1e-3);
  }

  // The latest time that all runs have.
  get edge() {
    return Math.min(...this.panes.map((p) => p.end));
  }

  // Runs that are behind the one that has come farthest, each with the time to go to. The one with the longest step goes there or
  // beyond, the others as near as their steps allow without passing it: steps that divide it meet exactly.
  get behind() {
    const runs = this.panes.filter((p) => p.runs);
    const far = Math.max(...runs.map((p) => p.end));
    const longest = Math.max(...runs.map((p) => p.dt));
    const leads = runs.find((p) => p.dt === longest);
    const goal = (pane) => far - (pane === leads ? SLACK : 1 - SLACK) * pane.dt;
    return runs.filter((p) => p.end < goal(p) - 0.5 * SLACK * p.dt).map((pane) => ({ pane, to: goal(pane) }));
  }

  // Runs side by side rest at one time, whatever each of them costs.
  meet() {
    if (this.playing || !this.panes.every((p) => p.atRest)) return;
    for (const { pane, to } of this.behind) pane.halt(to);
  }

  // Says what is going on where it takes longer than a frame: the page never stands still without a word.
  tellCost() {
    const costs = this.panes.filter((p) => p.live && p.ready).map((p) => p.cost);
    const wait = Math.max(0, ...costs.map((c) => c.wait));
    const slow = costs.reduce((a, c) => (c.ms > a.ms ? c : a), { ms: 0, factor: 0 });
    const waits = wait > WAIT_TOLD;
    this.busy.hidden = !waits && !(this.playing && slow.ms > FRAME_MS);
    if (this.busy.hidden) return;
    const rate = slow.ms ? `${slow.ms.toPrecision(3)} ms a step, ${slow.factor.toPrecision(2)} × real time` : 'the first step';
    const text = waits ? `computing for ${wait.toFixed(1)} s (${rate})` : `computing: ${rate}`;
    if (this.busy.textContent !== text) this.busy.textContent = text;
  }

  // Moves the time that is shown, and asks for what comes next.
  pace() {
    this.tellCost();
    const now = performance.now();
    const elapsed = Math.min(ELAPSED_MAX, (now - this.last) / 1000);
    this.last = now;
    if (this.playing && this.main.ready && !this.panes.some((p) => p.opening)) {
      const end = this.main.live ? this.span : this.recording.duration;
      this.time = Math.min(this.time + elapsed * this.speed, this.edge);
      const held = this.panes.some((p) => p.hand);
      const ahead = Math.min(end, this.time + (held ? 0.4 : 1) * Math.max(LEAD * this.speed, 3 / (this.recording.header.rate || 60)));
      for (const pane of this.panes) if (pane.live && !pane.stopped) pane.until(ahead, end);
      if (this.time >= end - 1e-9) {
        if (this.loop) this.time = 0;
        else if (!held) this.pause();
      }
      this.dirty = true;
    }
  }

  // Draws the newest state when the browser gives a frame for it; what came in between is passed over.
  paint(now) {
    if (this.root.dataset.show !== 'scene') return;
    // The graphics have not finished the last drawing, or took so long for it that the run needs a moment, too.
    if (this.panes.filter((p) => p.renderer.busy).length || now < this.drawn.next) return;
    if (this.dirty) this.draw(this.detailNow);
    // What stands still for a moment is drawn with all there is.
    else if (this.drawn.detail > 0 && this.settings.details === 'auto' && now > this.drawn.at + STILL_MS && this.drawn.ms < STILL_SLOW_MS) this.draw(0);
  }

  get detailNow() {
    return { auto: this.detail, all: 0, few: 2 }[this.settings.details];
  }

  // Fewer details where drawings take long, and time for the run between them.
  timed(ms) {
    const { drawn } = this;
    drawn.next = ms > SLOW_MS ? performance.now() + 0.5 * ms : 0;
    if (drawn.detail !== this.detail) return;
    drawn.ms = ms;
    drawn.slow = ms > SLOW_MS ? drawn.slow + ms / SLOW_MS : Math.max(0, drawn.slow - 1);
    if (drawn.slow > SLOW_SUM) [this.detail, drawn.slow] = [Math.min(DETAILS.length - 1, this.detail + 1), 0];
  }

  redraw() {
    this.dirty = true;
  }

  draw(detail = 0) {
    this.dirty = false;
    [this.drawn.detail, this.drawn.at] = [detail, performance.now()];
    this.less.hidden = !detail || this.settings.details !== 'auto';
    this.panes.forEach((pane) => {
      pane.show(this.time, detail);
      pane.renderer.watch((ms) => this.timed(ms));
      const h = pane.recording?.header;
      const caption = pane.canvas.parentElement.querySelector('.tp-caption');
      if (h && this.panes.length > 1) caption.textContent = `${h.method}, step ${tidy(h.dt)} s`;
      else caption.textContent = '';
    });
    if (!this.main.ready) return;
    if (this.shownPlaying !== this.playing) this.play.replaceChildren(icon((this.shownPlaying = this.playing) ? 'pause' : 'play'));
    this.play.setAttribute('aria-label', this.playing ? 'Pause (space)' : 'Play (space)');
    this.slider.max = String(this.span);
    this.slider.value = String(this.time);
    this.slider.style.setProperty('--have', `${(100 * this.edge) / this.span}%`);
    const frame = this.recording.frames[this.main.index];
    this.clock.textContent = `${this.time.toFixed(3)} s · step ${frame.step}`;
    this.chartPanel.hidden = !this.recording.steps && !this.main.live;
    // Charts of a run that plays are drawn less often: they cost as much as the scene.
    const now = performance.now();
    if (this.chartPanel.open && !this.chartPanel.hidden && (!this.playing || !(now < this.chartsNext))) {
      for (const c of this.charts) c.draw(this.recording, this.time, this.span);
      this.chartsNext = now + Math.max(CHARTS_MS, 10 * (performance.now() - now));
    }
    this.chosenPanel.update(this.main, this.time, this.span);
    this.colourKey.textContent = this.main.colourKey;
  }

  toggle() {
    if (this.playing) this.pause();
    else {
      if (this.main.ready && this.time >= this.span - 1e-9) this.time = 0;
      this.playing = true;
      this.resting = false;
      for (const p of this.panes) p.asked = 0;
    }
    this.redraw();
  }

  // Whoever watched the run at its edge sees where it comes to rest, which is a frame; whoever looked at the past stays there.
  pause() {
    if (this.playing && this.main.ready) this.resting = this.panes.every((p) => p.live && Math.max(p.asked, this.time) > this.edge - 2 / (p.recording?.header?.rate || 60));
    this.playing = false;
    for (const p of this.panes) p.halt?.();
    this.redraw();
  }

  seek(time) {
    if (!this.main.ready) return;
    if (this.playing) this.pause();
    this.resting = false;
    const at = Math.min(Math.max(0, time), this.edge);
    this.time = this.recording.frames[this.recording.frameAt(at)].time;
    this.redraw();
  }

  // To the next frame; at the edge of a live run exactly one step of the engine on.
  stepOn() {
    if (!this.main.ready) return;
    if (this.playing) this.pause();
    const next = Math.min(...this.panes.filter((p) => p.ready).map((p) => p.recording.frames[p.recording.frameAt(this.time) + 1]?.time ?? Infinity));
    if (next <= this.edge) this.time = next;
    else {
      this.resting = true;
      if (this.behind.length) this.meet();
      // Both; of two that cannot be at the very same time, the one that is behind.
      else for (const pane of this.panes) if (pane.runs && pane.end <= this.edge + 1e-9) pane.step();
    }
    this.redraw();
  }

  stepBack() {
    if (!this.main.ready) return;
    if (this.playing) this.pause();
    this.resting = false;
    const i = this.recording.frameAt(this.time);
    this.time = this.recording.frames[Math.max(0, i - 1)].time;
    this.redraw();
  }

  // Goes to the next event of the chosen kind, or the one before.
  event(direction) {
    const r = this.recording;
    if (!this.main.ready) return;
    const here = r.frameAt(this.time);
    const kind = this.jump.value;
    let found = -1;
    if (kind === 'impact' || kind === 'begin') {
      const frames = r.events.filter((e) => e.kind === kind).map((e) => this.frameAfter(e.time));
      found = direction > 0 ? Math.min(...frames.filter((f) => f > here), Infinity) : Math.max(...frames.filter((f) => f < here), -1);
    } else {
      for (let i = here + direction; i > 0 && i < r.frames.length && found < 0; i += direction) {
        if (kind === 'slip' ? this.slipBegins(i) : this.capHit(i)) found = i;
      }
    }
    if (found >= 0 && found < r.frames.length) this.seek(r.frames[found].time);
    else this.tell(`No such event ${direction > 0 ? 'after' : 'before'} this time, as far as the run has come.`);
  }

  frameAfter(time) {
    const i = this.recording.frameAt(time);
    return this.recording.frames[i].time < time - 1e-9 ? i + 1 : i;
  }

  slipBegins(i) {
    const stuck = new Set(this.recording.contacts(i - 1).filter((c) => !c.sliding).map((c) => c.key));
    return this.recording.contacts(i).some((c) => c.sliding && stuck.has(c.key));
  }

  capHit(i) {
    const { frames } = this.recording;
    for (let s = frames[i - 1].rows; s < frames[i].rows; s++) if (this.recording.value(s, 'caps_hit') > 0) return true;
    return false;
  }

  // ---- view ------------------------------------------------------------------------------------------------------------------

  refit() {
    this.main.fit();
    this.main.show(this.time);
    this.redraw();
  }

  // The next body that moves, or the next contact; for keys.
  choose(what, way) {
    const { main } = this;
    if (!main.ready) return;
    const list = what === 'body' ? main.bodies.map((_, i) => i).filter((i) => main.bodies[i].kind !== 'fixed') : main.contacts.map((c) => c.key);
    if (!list.length) return;
    const at = list.indexOf(main.chosen?.[what]);
    main.chosen = { [what]: list[at < 0 ? (way > 0 ? 0 : list.length - 1) : (at + way + list.length) % list.length] };
  }

  followChosen() {
    const { main } = this;
    main.follow = main.follow === main.chosen?.body ? null : main.chosen?.body;
    this.redraw();
  }

  // ---- files -----------------------------------------------------------------------------------------------------------------

  saveTable() {
    if (this.recording?.header) save('certificates.csv', new Blob([this.recording.csv()], { type: 'text/csv' }));
  }

  saveContacts() {
    if (this.main.ready) save('contacts.csv', new Blob([contactTable(this.recording)], { type: 'text/csv' }));
  }

  savePicture() {
    this.draw();
    this.canvas.toBlob((blob) => blob && save('scene.png', blob));
  }

  saveCharts() {
    this.draw();
    this.saveStack('charts.png', this.charts.filter((c) => !c.figure.hidden).map((c) => ({ title: c.plain, canvas: c.canvas })));
  }

  // Saves plots below each other, on the ground of the page.
  saveStack(name, plots) {
    const style = getComputedStyle(this.root);
    stack(plots, style.backgroundColor, style.color).toBlob((blob) => blob && save(name, blob));
  }

  saveRecording() {
    if (this.main.bytes) save('recording.tippe', new Blob(this.main.bytes));
  }

  // What the page shows, for tests and for the curious.
  state() {
    const { main } = this;
    return {
      show: this.root.dataset.show, time: this.time, edge: this.edge, span: this.span, playing: this.playing, line: this.lineNow,
      message: this.message.hidden ? '' : this.message.textContent, name: this.title.textContent,
      frames: this.recording?.frames.length ?? 0, steps: this.recording?.steps ?? 0, method: this.recording?.header?.method, dt: this.recording?.header?.dt,
      bodies: main.bodies?.map((b, i) => ({ name: b.name, kind: b.kind, mass: b.mass, position: main.poses ? Array.from(main.poses.subarray(7 * i, 7 * i + 3)) : null })) ?? [],
      contacts: main.contacts ?? [], arrows: main.over?.shown ?? [], arrowScale: main.arrowScale, step: main.ready ? this.recording.frames[this.recording.frameAt(this.time)].step : 0,
      chosen: main.chosen, panes: this.panes.length, ends: this.panes.map((p) => p.end), run: main.connection?.run ?? null,
      detail: this.drawn?.detail, paused: this.panes.every((p) => p.atRest) && !this.behind.length, hand: main.hand, problem: this.recording?.problem, opened: this.opened,
      look: this.settings.look, statistics: this.chosenPanel.numbers,
    };
  }
}
