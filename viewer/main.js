// Where the page begins: inside a report, or from the server.
//
// Reads: the document.  Writes: the page.
// Called by: the browser.

import { Page } from './page.js';

async function start() {
  const root = document.getElementById('tippe');
  const page = new Page(root);
  window.tippe = page;
  if (!page.works) return;
  const kept = document.getElementById('tippe-recording');
  if (kept) {
    const text = atob(kept.textContent.trim());
    page.replay(Uint8Array.from(text, (c) => c.charCodeAt(0)));
    return;
  }
  try {
    const answer = await fetch('start.json');
    const first = await answer.json();
    const wanted = new URLSearchParams(location.search).get('scene');
    if (wanted) page.openScene({ scene: wanted });
    else if (first.show === 'scene') page.openScene({});
    else if (first.show === 'recording') await page.replayFrom('recording');
    else await page.showGallery();
  } catch (e) {
    page.tell(`The server does not answer (${e.message}). Start “tippe view” again and reload.`, true);
  }
}

start();
