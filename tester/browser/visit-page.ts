import { setTimeout as delay } from 'node:timers/promises';
import { type Browser, type BrowserContext, chromium, errors, type Page, type Response } from 'playwright-core';
import type { Environments } from '../network/environments.ts';
import { cut } from '../test-types/items.ts';
import { CouldNotRun, ingressUnreached } from '../test-types/kind.ts';
import { chromiumArguments } from './chromium.ts';
import { MAX_REPORTED, MAX_TEXT, type PageSnapshot, type Visit } from './page-snapshot.ts';

export interface VisitOptions {
  /** The addresses of the visited environment. */
  environment: Environments;
  /** Path of Chromium. */
  executable: string;
  /** The Ingress controller's. */
  address: string;
  /** An argument of all processes of this visit; Chromium ignores it. */
  mark: string;
  /** Returns monotonic milliseconds. */
  now: () => number;
}

const loadMs = 30_000;
/** Time for scripts to run after the page has loaded, in milliseconds. */
const settleMs = 500;
const textMs = 5000;
const screenshotMs = 5000;
const titleMs = 2000;
/** A PNG above this size in bytes is replaced by a JPEG. */
const largePng = 1024 * 1024;

/** Opens a page in a browser with a new profile, which is deleted afterwards. @throws CouldNotRun */
export async function visitPage(
  visit: Visit,
  { environment, executable, address, mark, now }: VisitOptions,
): Promise<PageSnapshot> {
  const browser = await chromium
    .launch({ executablePath: executable, args: [...chromiumArguments(environment, address), mark], timeout: loadMs })
    .catch((error: unknown) => {
      throw new CouldNotRun(
        'Chromium did not start. Run the tests again; if it fails again, ask an administrator to check the tester',
        { cause: error },
      );
    });
  try {
    return await visitWith(browser, visit, environment, now);
  } finally {
    await browser.close();
  }
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
    // Requests of a service worker would bypass the routes below.
    serviceWorkers: 'block',
    // Requests to other hosts are blocked below.
    extraHTTPHeaders: visit.headers ?? {},
  });
  const blocked = await isolation(context, environment);
  const page = await context.newPage();
  // Other pages that the page opens are closed.
  context.on('page', (other) => void other.close().catch(() => undefined));
  const faults = watchErrors(page, blocked);

  const started = now();
  const loaded = await open(page, new URL(new URL(visit.url).origin + visit.path));
  const tookMs = Math.round(now() - started);
  const { response, fault } = loaded;
  if (fault === undefined) await page.waitForTimeout(settleMs);
  const hasText = fault === undefined && visit.text !== undefined && (await shows(page, visit.text));
  const title = await within(titleMs, page.evaluate(titleUpTo, MAX_TEXT + 1));
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
    blocked: [...blocked].slice(0, MAX_REPORTED),
    ...(screenshot && { screenshot: screenshot.toString('base64') }),
  };
}

/**
 * Blocks requests to hosts outside the environment before they are sent.
 * @returns the blocked URLs, updated as requests are made
 */
async function isolation(context: BrowserContext, environment: Environments): Promise<Set<string>> {
  const blocked = new Set<string>();
  const note = (url: string) => {
    if (blocked.size < 1000) blocked.add(cut(url, MAX_TEXT));
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

/** Collects the page's errors, except those about blocked requests, which are not the page's fault. */
function watchErrors(page: Page, blocked: ReadonlySet<string>): { errors: string[]; more: number } {
  const seen = { errors: [] as string[], more: 0 };
  const note = (text: string) => {
    if (seen.errors.length < MAX_REPORTED) seen.errors.push(cut(text, MAX_TEXT));
    else seen.more += 1;
  };
  page.on('console', (message) => {
    if (message.type() === 'error' && !blocked.has(cut(message.location().url, MAX_TEXT))) note(message.text());
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
      return {
        ...answered(),
        fault: `the page did not finish loading within ${loadMs / 1000} s. Check which of its requests is slow`,
      };
    }
    const code = error instanceof Error ? /net::(ERR_\w+)/.exec(error.message)?.[1] : undefined;
    if (code === undefined)
      throw new CouldNotRun('the browser ended while it loaded the page. Run the tests again', { cause: error });
    if (code === 'ERR_CONNECTION_REFUSED' || code === 'ERR_ADDRESS_UNREACHABLE') {
      throw ingressUnreached(code, error);
    }
    return { ...answered(), fault: faultOf(code) };
  }
}

function faultOf(code: string): string {
  if (code === 'ERR_NAME_NOT_RESOLVED' || code === 'ERR_BLOCKED_BY_CLIENT') {
    return 'the page redirects to a host outside its environment. Correct the redirect';
  }
  return `the page could not be opened (${code}). Open it in a browser, and read the log of its service`;
}

/** The page's document, where `shown` and `titleUpTo` run. */
declare const document: { title: string; documentElement: { innerText?: string } | null };

const titleUpTo = (length: number): string => document.title.slice(0, length);

/**
 * Returns whether the text is visible, without hidden elements. Uses the whole document, because a hidden body would
 * return all its text.
 */
const shown = (wanted: string): boolean =>
  (document.documentElement?.innerText ?? '').replaceAll(/\s+/g, ' ').includes(wanted);

/** Waits until the page shows the text; any white space counts as one space. */
async function shows(page: Page, text: string): Promise<boolean> {
  const wanted = text.replaceAll(/\s+/g, ' ');
  return page.waitForFunction(shown, wanted, { timeout: textMs, polling: 100 }).then(
    () => true,
    () => false,
  );
}

/** Returns undefined if the promise rejects or takes longer: a page whose scripts never end does not respond. */
async function within<T>(ms: number, asked: Promise<T>): Promise<T | undefined> {
  const late = new AbortController();
  const answer = asked.catch(() => undefined);
  const timeout = delay(ms, undefined, { signal: late.signal }).catch(() => undefined);
  const first = await Promise.race([answer, timeout]);
  late.abort();
  return first;
}

/** Returns undefined if the page does not respond, because a script does not end. */
async function screenshotOf(page: Page): Promise<Buffer | undefined> {
  const options = { timeout: screenshotMs, animations: 'disabled', caret: 'hide' } as const;
  try {
    const png = await page.screenshot(options);
    return png.length <= largePng ? png : await page.screenshot({ ...options, type: 'jpeg', quality: 60 });
  } catch {
    return undefined;
  }
}
