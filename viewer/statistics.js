// Contact forces over a window of time: sums of impulses, mean forces, centre of pressure; and all contacts as a table.
//
// Reads: a recording.  Writes: numbers.
// Called by: pane (arrows), chosen (numbers), page (export).
// Source: a frame holds the impulses since the frame before, so that a window of whole frames loses none of them.

const add3 = (sum, v, s = 1) => v.forEach((x, k) => (sum[k] += s * x));

// The frame a window of at most this length [s] begins after, so that it ends with a frame and holds one at least.
export function windowStart(recording, index, length) {
  const { frames } = recording;
  let from = Math.max(0, index - 1);
  while (from > 0 && frames[index].time - frames[from - 1].time <= length + 1e-9) from--;
  return from;
}

// Sums over the contacts of a window. `sign(contact)` says how a contact counts in the vector sums: 1 as the force on B, −1 as that on A,
// 0 not in these; null leaves it out of all.
export function overWindow(recording, index, length, sign) {
  const from = windowStart(recording, index, length);
  const { frames } = recording;
  const s = {
    span: frames[index].time - frames[from].time, frames: index - from,
    steps: 0, // steps in which a contact carried an impulse, summed over contacts
    impulse: [0, 0, 0], // [N·s]
    normal: 0, // Σ|p_n| [N·s]
    tangential: 0, // Σ|p_t| [N·s]
    greatest: 0, // greatest mean force of one contact over one frame [N]
    sliding: 0, // part of the steps that slid [1]
    center: [0, 0, 0], // Σ|p_n| x / Σ|p_n| [m]
  };
  for (let i = from + 1; i <= index; i++) {
    const dt = frames[i].time - frames[i - 1].time;
    recording.scan(i, (c) => {
      const way = sign(c);
      if (way === null) return;
      const [p, n] = [c.impulse, c.normal];
      const pressing = p[0] * n[0] + p[1] * n[1] + p[2] * n[2];
      const pn = Math.abs(pressing);
      s.steps += c.steps;
      s.sliding += c.sliding ? c.steps : 0;
      s.normal += pn;
      s.tangential += Math.hypot(p[0] - pressing * n[0], p[1] - pressing * n[1], p[2] - pressing * n[2]);
      s.greatest = Math.max(s.greatest, Math.hypot(p[0], p[1], p[2]) / dt);
      for (let k = 0; k < 3; k++) {
        s.impulse[k] += way * p[k];
        s.center[k] += pn * c.point[k];
      }
    });
  }
  s.center = s.center.map((x) => x / s.normal);
  s.sliding /= Math.max(1, s.steps);
  s.force = s.impulse.map((x) => (s.span > 0 ? x / s.span : 0)); // mean over the window [N]
  return s;
}

// Contacts with their mean force over a window, each where it was last seen.
export function meanContacts(recording, index, length) {
  const from = windowStart(recording, index, length);
  const span = recording.frames[index].time - recording.frames[from].time;
  const all = new Map();
  for (let i = from + 1; i <= index; i++) {
    for (const c of recording.contacts(i)) {
      const sum = all.get(c.key)?.impulse ?? [0, 0, 0];
      add3(sum, c.impulse);
      all.set(c.key, { ...c, impulse: sum });
    }
  }
  return [...all.values()].map((c) => {
    const force = c.impulse.map((x) => x / span);
    const pressing = force.reduce((p, x, k) => p + x * c.normal[k], 0);
    return { ...c, force, pressing, friction: force.map((x, k) => x - pressing * c.normal[k]) };
  });
}

// All contacts of all frames: the mean force on B since the frame before.
export function contactTable(recording) {
  const lines = ['time,body_a,body_b,shape_a,shape_b,feature,steps,slides,point_x,point_y,point_z,normal_x,normal_y,normal_z,force_x,force_y,force_z'];
  const quoted = (name) => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
  recording.frames.forEach((frame, i) => {
    const names = new Map(recording.lists[frame.list].map((b) => [b.slot, quoted(b.name)]));
    for (const c of recording.contacts(i)) {
      lines.push([frame.time, names.get(c.a) ?? c.a, names.get(c.b) ?? c.b, c.shapeA, c.shapeB, c.feature, c.steps, c.sliding ? 1 : 0, ...c.point, ...c.normal, ...c.force].join(','));
    }
  });
  return `${lines.join('\n')}\n`;
}
