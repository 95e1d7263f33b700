// Elements in one line, and saving files.
//
// Reads: nothing.  Writes: elements.
// Called by: page, panels, chosen.

export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (name in e && typeof value !== 'string') e[name] = value;
    else e.setAttribute(name, value);
  }
  e.append(...children.filter((c) => c !== null));
  return e;
}

// Icons, drawn on a field of 24 × 24.
const ICONS = {
  menu: 'M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z',
  start: 'M5 5h3v14H5zM20 5v14L9 12z',
  back: 'M16 5v14L6 12zM17 5h2v14h-2z',
  play: 'M7 4v16l13-8z',
  pause: 'M6 4h4v16H6zM14 4h4v16h-4z',
  on: 'M8 5v14l10-7zM5 5h2v14H5z',
  before: 'M11 5v14L1 12zM22 5v14L12 12z',
  next: 'M13 5v14l10-7zM2 5v14l10-7z',
  fit: 'M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4zM9 9h6v6H9z',
  light: 'M12 3a9 9 0 1 0 0 18zM12 5v14a7 7 0 0 0 0-14z',
};

export function icon(name) {
  // From markup, which knows the namespace: a page that is saved names no address.
  const holder = document.createElement('template');
  holder.innerHTML = `<svg viewBox="0 0 24 24" class="tp-icon" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;
  const svg = holder.content.firstElementChild;
  return svg;
}

export const button = (label, title, onclick, id) =>
  el('button', { type: 'button', title, 'aria-label': title, onclick, ...(id ? { id } : {}) }, label);

export function check(label, on, onchange, id) {
  const box = el('input', { type: 'checkbox', checked: on, ...(id ? { id } : {}), onchange: () => onchange(box.checked) });
  return el('label', { class: 'tp-check' }, box, ` ${label}`);
}

export function field(label, input, hint = '') {
  return el('label', { class: 'tp-field', title: hint }, el('span', {}, label), input);
}

export function choice(options, value, onchange, id) {
  const list = Object.entries(options).map(([v, text]) => el('option', { value: v, selected: v === value }, text));
  const select = el('select', { ...(id ? { id } : {}), onchange: () => onchange(select.value) }, ...list);
  return select;
}

export const panel = (title, open, ...children) => el('details', { class: 'tp-panel', open }, el('summary', {}, title), ...children);

export function save(name, blob) {
  const link = el('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
