import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Browser, type BrowserContext, chromium, errors, type Page, type Response } from 'playwright-core';
import type { Environments } from '../network/environments.ts';
import { CouldNotRun } from '../test-types/kind.ts';
import { cut } from '../test-types/items.ts';
import { chromiumArguments } from './chromium.ts';
import { watchMemory } from './memory.ts';
import { type PageLoader, MAX_TEXT, MAX_REPORTED, type PageSnapshot, type Visit } from './page-snapshot.ts';

export interface BrowserOptions {
  environments: Environments;
  /** Chromium's path. */
  executable: string;
  /** The address of an environment's host: the Ingress controller's. */
  addressOf: (host: string) => Promise<string>;
  /** What one browser may use of memory. */
  maxBytes: number;
  /** Monotonic milliseconds. */
  now: () => number;
}

const loadMs = 30_000;
/** Until scripts that the page has loaded have done their first work. */
const settleMs = 500;
const textMs = 5000;
const screenshotMs = 5000;
const titleMs = 2000;
/** A larger PNG is taken as JPEG. */
const largePng = 1024 * 1024;

/** Opens each page in a browser of its own, with a profile of its own, which ends with it. */
export function localPageLoader({ environments, executable, addressOf, maxBytes, now }: BrowserOptions): PageLoader {
  return async (visit, signal) => {
    const environment = environments.of(visit.url);
    if (environment === undefined) throw new CouldNotRun('the page is not at the address of an environment');
    const { hostname } = new URL(visit.url);
    const address = await addressOf(hostname).catch((error: unknown) => {
      throw new CouldNotRun(`DNS has no address of ${hostname}`, { cause: error });
    });
    signal.throwIfAborted();
    // Chromium takes no notice of it: its processes are known by it.
    const mark = `--coppice-look=${randomUUID()}`;
    const browser = await chromium
      .launch({ executablePath: executable, args: [...chromiumArguments(environment, address), mark], timeout: loadMs })
      .catch((error: unknown) => {
        throw new CouldNotRun('Chromium did not start', { cause: error });
      });
    const end = () => void browser.close().catch(() => undefined);
    signal.addEventListener('abort', end, { once: true });
    const memory = watchMemory(mark, maxBytes);
    try {
      signal.throwIfAborted();
      const snapshot = await visitWith(browser, visit, environment, now);
      signal.throwIfAborted();
      return memory.isExceeded ? oversizedSnapshot(maxBytes) : snapshot;
    } catch (error) {
      signal.throwIfAborted();
      if (memory.isExceeded) return oversizedSnapshot(maxBytes);
      throw error;
    } finally {
      memory.end();
      signal.removeEventListener('abort', end);
      await browser.close();
    }
  };
}

function oversizedSnapshot(maxBytes: number): PageSnapshot {
  const fault = `the page took more than ${Math.round(maxBytes / 1024 / 1024)} MiB`;
  return { fault, hasText: false, times: {}, errors: [], moreErrors: 0, blocked: [] };
}

async function visitWith(
  browser: Browser,
  visit: Visit,
  environment: Environments,
  now: () => number,
): Promise<PageSnapshot> {
  const { width, height } = visit;
  const context = await browser.newContext({
    viewport: { width, height },
    acceptDownloads: false,
    // A service worker's requests would pass by the routes below.
    serviceWorkers: 'block',
  });
  const blocked = await isolation(context, environment);
  const page = await context.newPage();
  // Whatever else the page opens is not looked at.
  context.on('page', (other) => void other.close().catch(() => undefined));
  const faults = watchErrors(page, blocked);

  const started = now();
  const loaded = await open(page, new URL(new URL(visit.url).origin + visit.path));
  const tookMs = Math.round(now() - started);
  const { response, fault } = loaded;
  if (fault === undefined) await page.waitForTimeout(settleMs);
  const hasText = fault === undefined && visit.text !== undefined && (await shows(page, visit.text));
  const title = await within(titleMs, page.title());
  const screenshot = await screenshotOf(page);
  const firstAnswerMs = response && Math.round(response.request().timing().responseStart);
  return {
    ...(fault !== undefined && { fault: cut(fault, MAX_TEXT) }),
    ...(response && { status: response.status() }),
    ...(title !== undefined && { title: cut(title, MAX_TEXT) }),
    hasText,
    times: {
      ...(firstAnswerMs !== undefined && firstAnswerMs >= 0 && { firstAnswerMs }),
      ...(fault === undefined && { loadMs: tookMs }),
    },
    errors: faults.errors,
    moreErrors: faults.more,
    blocked: [...blocked].slice(0, MAX_REPORTED).map((url) => cut(url, MAX_TEXT)),
    ...(screenshot && { screenshot: screenshot.toString('base64') }),
  };
}

/** Blocks what is not of the environment, by name, before it is asked. @returns the URLs that were, as they come. */
async function isolation(context: BrowserContext, environment: Environments): Promise<Set<string>> {
  const blocked = new Set<string>();
  const note = (url: string) => {
    if (blocked.size < 1000) blocked.add(url);
  };
  await context.route('**/*', async (route) => {
    const url = route.request().url();
    if (environment.has(url) || /^(data|blob|about):/.test(url)) return route.continue();
    note(url);
    return route.abort('blockedbyclient');
  });
  await context.routeWebSocket(
    (url) => !environment.hasSocket(url),
    (socket) => {
      note(socket.url());
      void socket.close({ code: 1008 });
    },
  );
  return blocked;
}

/** What the page says as an error; not that a request was blocked, which is not a fault of its. */
function watchErrors(page: Page, blocked: ReadonlySet<string>): { errors: string[]; more: number } {
  const seen = { errors: [] as string[], more: 0 };
  const note = (text: string) => {
    if (seen.errors.length < MAX_REPORTED) seen.errors.push(cut(text, MAX_TEXT));
    else seen.more += 1;
  };
  page.on('console', (message) => {
    if (message.type() === 'error' && !blocked.has(message.location().url)) note(message.text());
  });
  page.on('pageerror', (error) => note(error.message));
  return seen;
}

async function open(page: Page, url: URL): Promise<{ response?: Response; fault?: string }> {
  let response: Response | undefined;
  page.on('response', (one) => {
    if (one.request().isNavigationRequest() && one.frame() === page.mainFrame()) response = one;
  });
  const answered = () => response && { response };
  try {
    await page.goto(url.href, { waitUntil: 'load', timeout: loadMs });
    return { ...answered() };
  } catch (error) {
    if (error instanceof errors.TimeoutError) {
      return { ...answered(), fault: `the page did not finish loading within ${loadMs / 1000} s` };
    }
    const code = error instanceof Error ? /net::(ERR_\w+)/.exec(error.message)?.[1] : undefined;
    if (code === undefined) throw new CouldNotRun('the browser ended while it had the page', { cause: error });
    if (code === 'ERR_CONNECTION_REFUSED' || code === 'ERR_ADDRESS_UNREACHABLE') {
      throw new CouldNotRun('the Ingress controller was not reached', { cause: error });
    }
    return { ...answered(), fault: faultOf(code) };
  }
}

function faultOf(code: string): string {
  if (code === 'ERR_NAME_NOT_RESOLVED' || code === 'ERR_BLOCKED_BY_CLIENT') {
    return 'the page leads to a host that is not of its environment';
  }
  return `the page could not be opened (${code})`;
}

/** The page's own, where `shown` runs. */
declare const document: { documentElement: { innerText?: string } | null };

/** As the reader has it: without what is hidden. Of the whole document, for a body that is hidden gives all its text. */
const shown = (wanted: string): boolean =>
  (document.documentElement?.innerText ?? '').replaceAll(/\s+/g, ' ').includes(wanted);

/** Whether the page comes to show the text; white space of whatever kind is one space. */
async function shows(page: Page, text: string): Promise<boolean> {
  const wanted = text.replaceAll(/\s+/g, ' ');
  return page.waitForFunction(shown, wanted, { timeout: textMs, polling: 100 }).then(
    () => true,
    () => false,
  );
}

/** undefined where it fails or takes longer: a page whose scripts never end answers nothing. */
async function within<T>(ms: number, asked: Promise<T>): Promise<T | undefined> {
  const late = new AbortController();
  const answer = asked.catch(() => undefined);
  const timeout = delay(ms, undefined, { signal: late.signal }).catch(() => undefined);
  const first = await Promise.race([answer, timeout]);
  late.abort();
  return first;
}

/** undefined where the page gives none: one whose scripts never end. */
async function screenshotOf(page: Page): Promise<Buffer | undefined> {
  const options = { timeout: screenshotMs, animations: 'disabled', caret: 'hide' } as const;
  try {
    const png = await page.screenshot(options);
    return png.length <= largePng ? png : await page.screenshot({ ...options, type: 'jpeg', quality: 60 });
  } catch {
    return undefined;
  }
}
