import type { KnownEnvironment } from '../waker-protocol/messages.ts';

/** Paths that the waker itself answers, at every host. */
export const OWN_PATHS = { wake: '/.well-known/coppice/wake', events: '/.well-known/coppice/events' } as const;
export const PROOF_HEADER = 'x-coppice-proof';

export interface Page {
  html: string;
  /** Value of Content-Security-Policy. */
  policy: string;
}

export interface PageInput {
  environment: Pick<KnownEnvironment, 'id' | 'wakeOn' | 'panelUrl'>;
  /** Permits the page's script to wake the environment. */
  proof: string;
  /** Random, for one page. */
  nonce: string;
}

/** Returns the page that a browser gets from an environment that does not run. */
export function waitingPage(input: PageInput): Page {
  const { environment, nonce } = input;
  const wakes = environment.wakeOn === 'visit';
  const title = wakes ? 'This environment is waking up' : 'This environment is asleep';
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${wakes ? wakingBody(input) : asleepBody(input)}
</main>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
  return { html, policy };
}

function wakingBody({ environment: { id }, proof, nonce }: PageInput): string {
  return `<p><b>${escaped(id)}</b> was asleep because nobody visited it. The page loads when its services run.</p>
<ul id="services" aria-live="polite"></ul>
<noscript><p>Without JavaScript this page wakes nothing. Use <code>coppice env wake ${escaped(id)}</code>.</p></noscript>
<script nonce="${nonce}">${script(proof)}</script>`;
}

function asleepBody({ environment: { id, wakeOn, panelUrl } }: PageInput): string {
  const link = `<p><a href="${escaped(panelUrl)}">Log in and wake it</a></p>`;
  const how = `A visit does not wake it. Members of its group can: <code>coppice env wake ${escaped(id)}</code>.`;
  return `<p><b>${escaped(id)}</b> was asleep when you opened this page. ${how}</p>${wakeOn === 'login' ? link : ''}`;
}

/** Wakes only for a person: not for a page that is loaded ahead, or in a tab that nobody has looked at. */
function script(proof: string): string {
  return `
const list = document.getElementById('services');
let asked = false;
async function wake() {
  if (asked || document.prerendering || document.visibilityState !== 'visible') return;
  asked = true;
  const answer = await fetch(${JSON.stringify(OWN_PATHS.wake)}, { method: 'POST', headers: { ${JSON.stringify(PROOF_HEADER)}: ${JSON.stringify(proof)} } }).catch(() => undefined);
  if (!answer || !answer.ok) setTimeout(() => location.reload(), 3000);
}
document.addEventListener('visibilitychange', wake);
document.addEventListener('prerenderingchange', wake);
wake();
const source = new EventSource(${JSON.stringify(OWN_PATHS.events)});
source.onmessage = ({ data }) => {
  const { ready, services, others } = JSON.parse(data);
  if (ready) {
    source.close();
    location.reload();
    return;
  }
  const itemOf = (text, ready) => {
    const item = document.createElement('li');
    item.className = ready ? 'ready' : 'starting';
    item.textContent = text;
    return item;
  };
  list.replaceChildren(...services.map(({ name, ready }) => itemOf(name + (ready ? ': ready' : ': starting'), ready)));
  if (others.count > 0) list.append(itemOf(others.ready + ' of ' + others.count + ' others: ready', others.ready === others.count));
};
source.onerror = () => {
  if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 1000);
};
`;
}

const style = `
:root { color-scheme: light dark; --muted: light-dark(#5a6270, #9aa4b2); --violet: light-dark(#6b3fbf, #c3a1ff); }
body { background: light-dark(#fff, #14161b); color: light-dark(#1c2027, #e6e9ee); font: 16px/1.5 system-ui, sans-serif; margin: 0; display: grid; place-items: center; min-height: 100vh; }
main { max-width: 36rem; padding: 2rem; overflow-wrap: anywhere; }
a { color: var(--violet); }
h1 { font-size: 1.4rem; color: var(--violet); }
ul { list-style: none; padding: 0; }
li.starting { color: var(--muted); }
li::before { content: '○ '; }
li.ready::before { content: '● '; color: var(--violet); }
`;

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
