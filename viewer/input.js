// Pointer and keys: turn, pan and zoom the view, choose, pull, and move in time.
//
// Reads: the user.  Writes: the page's camera, time and choice.
// Called by: page.

import { answers } from './colours.js';

// Orbit, pan, zoom, choose and pull on the canvas of a pane.
export function watchPointer(page, pane) {
  const { canvas } = pane;
  const touches = new Map();
  let drag = null;
  const place = (e) => {
    const box = canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };
  canvas.addEventListener('contextmenu', (e) => e.preventDefault());
  canvas.addEventListener('pointerdown', (e) => {
    canvas.setPointerCapture(e.pointerId);
    canvas.focus();
    touches.set(e.pointerId, [e.clientX, e.clientY]);
    const [x, y] = place(e);
    drag = { x, y, moved: false, what: 'orbit' };
    if (touches.size > 1) drag.what = 'pinch';
    else if (e.button !== 0 || e.shiftKey) drag.what = 'pan';
    else if (pane.ready) {
      const hit = pane.pick(x, y, true);
      if (hit && hit.body !== undefined && pane.live && !e.altKey && answers(pane.bodies[hit.body])) Object.assign(drag, { what: 'hand', hit });
    }
  });
  canvas.addEventListener('pointermove', (e) => {
    if (!drag || !touches.has(e.pointerId)) return;
    const [px, py] = touches.get(e.pointerId);
    const [dx, dy] = [e.clientX - px, e.clientY - py];
    if (drag.what === 'pinch') pinch(page.camera, touches, e, canvas);
    touches.set(e.pointerId, [e.clientX, e.clientY]);
    const [x, y] = place(e);
    if (Math.hypot(x - drag.x, y - drag.y) > 4) drag.moved = true;
    if (!drag.moved) return;
    if (drag.what === 'orbit') page.camera.orbit(dx, dy);
    if (drag.what === 'pan') page.camera.pan(dx, dy, canvas.clientHeight);
    if (drag.what === 'hand') {
      if (!pane.hand) {
        pane.grab(drag.hit.body, drag.hit.point);
        pane.chosen = { body: drag.hit.body };
      }
      pane.pull(pane.under(x, y));
    }
    page.redraw();
  });
  const up = (e) => {
    touches.delete(e.pointerId);
    if (!drag) return;
    if (drag.what === 'hand' && pane.hand) pane.release();
    else if (!drag.moved && e.type === 'pointerup' && pane.ready) {
      const [x, y] = place(e);
      const hit = pane.pick(x, y, true);
      pane.chosen = hit ? (hit.contact ? { contact: hit.contact } : { body: hit.body }) : null;
    }
    if (!touches.size) drag = null;
    page.redraw();
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener('wheel', (e) => {
    e.preventDefault();
    page.camera.zoom(Math.exp(Math.max(-0.4, Math.min(0.4, e.deltaY * 0.0015))));
    page.redraw();
  }, { passive: false });
}

// Two fingers.
function pinch(camera, touches, e, canvas) {
  const others = [...touches].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
  if (!others.length) return;
  const before = touches.get(e.pointerId);
  const d = (p) => Math.hypot(p[0] - others[0][0], p[1] - others[0][1]) || 1;
  camera.zoom(d(before) / d([e.clientX, e.clientY]));
  camera.pan((e.clientX - before[0]) / 2, (e.clientY - before[1]) / 2, canvas.clientHeight);
}

// Keys of the whole page; those of the view where the scene has the focus.
export function keys(page, e) {
  // Inside a report, keys belong to the document unless the focus is in here.
  if (page.root.classList.contains('tp-embedded') && !page.root.contains(e.target)) return;
  if (page.root.dataset.show !== 'scene' || e.ctrlKey || e.metaKey || e.altKey) return;
  const typing = ['INPUT', 'TEXTAREA', 'SELECT'].includes(e.target.tagName) && !['checkbox', 'range'].includes(e.target.type);
  if (typing) return;
  const onCanvas = e.target.tagName === 'CANVAS' && e.target.id.startsWith('chart-') === false;
  const does = {
    ' ': () => e.target.tagName !== 'BUTTON' && e.target.type !== 'checkbox' && e.target.tagName !== 'SUMMARY' && (page.toggle(), true),
    '.': () => (page.stepOn(), true),
    ',': () => (page.stepBack(), true),
    Home: () => (page.seek(0), true),
    End: () => (page.seek(page.edge), true),
    f: () => (page.refit(), true),
    '+': () => (page.camera.zoom(0.85), true),
    '-': () => (page.camera.zoom(1.18), true),
    ArrowLeft: () => (onCanvas ? (page.camera.orbit(12, 0), true) : e.target.id?.startsWith('chart-') && (page.stepBack(), true)),
    ArrowRight: () => (onCanvas ? (page.camera.orbit(-12, 0), true) : e.target.id?.startsWith('chart-') && (page.stepOn(), true)),
    ArrowUp: () => onCanvas && (page.camera.orbit(0, 12), true),
    ArrowDown: () => onCanvas && (page.camera.orbit(0, -12), true),
    b: () => (page.choose('body', 1), true),
    B: () => (page.choose('body', -1), true),
    c: () => (page.choose('contact', 1), true),
    C: () => (page.choose('contact', -1), true),
    Escape: () => ((page.main.chosen = null), true),
  }[e.key];
  if (does && does()) {
    e.preventDefault();
    page.redraw();
  }
}
