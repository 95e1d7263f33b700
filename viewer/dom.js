// Elements in one line, and saving files.
//
// Reads: nothing.  Writes: elements.
// Called by: page, panels.

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

export function save(name, blob) {
  const link = el('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
