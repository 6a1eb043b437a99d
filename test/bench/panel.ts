import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { chromium, type Browser, type BrowserContext, type CDPSession, type Page } from 'playwright-core';
import { z } from 'zod';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { buildPanel } from '../../panel/build.ts';
import { LocalPanel } from '../chromium/local-panel.ts';
import type { Progress } from '../support/progress.ts';
import { randomName } from '../end-to-end/harness.ts';
import { environmentAt } from './bench-groups.ts';
import { percentile, type Figure } from './measure.ts';
import { addEnvironment } from './streams.ts';
import { withBench } from './with-bench.ts';

const rounds = 5;
const changes = 60;
const changeEveryMs = 400;
const logLines = 100_000;
const rows = 10_000;
const scrollMs = 3000;
const user = 'ada@example.com';
/** A slow mobile connection. */
const slowNetwork = { offline: false, latency: 400, downloadThroughput: 125_000, uploadThroughput: 125_000 };

/** Measures the panel in Chromium, with the API on a local port. */
export function benchPanel(progress: Progress): Promise<Figure[]> {
  return withChromium(async (browser) => [
    ...(await progress.step('bytes', bytesOfFirstPage)),
    ...(await local(progress, browser)),
  ]);
}

/** Measures how long a change in the cluster takes until a browser shows it. */
export function benchPanelChanges(progress: Progress): Promise<Figure[]> {
  return withChromium((browser) => changeOnScreen(progress, browser));
}

async function withChromium(measure: (browser: Browser) => Promise<Figure[]>): Promise<Figure[]> {
  const args = ['--no-sandbox', '--disable-gpu', '--enable-precise-memory-info'];
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
  try {
    return await measure(browser);
  } finally {
    await browser.close();
  }
}

async function bytesOfFirstPage(): Promise<Figure[]> {
  const { index, files, firstScripts } = await buildPanel();
  const size = (names: (name: string) => boolean) =>
    files.filter(({ name }) => names(name)).reduce((sum, { bytes }) => sum + gzipSync(bytes, { level: 9 }).length, 0);
  const scripts = size((name) => firstScripts.includes(name) || name.startsWith('theme-'));
  const styles = size((name) => name.endsWith('.css'));
  const figure = (name: string, bytes: number, target?: string): Figure => ({
    ...{ name, unit: 'kB', samples: [bytes / 1000] },
    ...(target !== undefined && { target }),
  });
  return [
    figure('scripts of the first page, gzip', scripts, '≤ 60 kB'),
    figure('first page with styles and document, gzip', scripts + styles + gzipSync(index).length),
  ];
}

async function local(progress: Progress, browser: Browser): Promise<Figure[]> {
  const panel = await LocalPanel.start();
  try {
    await panel.addUser(user);
    panel.addGroup('acme', [user]);
    for (const [name, count] of [
      ['shop', 20],
      ['many', rows],
    ] as const) {
      panel.addRepository('acme', name);
      for (let index = 0; index < count; index++) {
        const gitRef = { name: `feature/${index}`, type: 'branch' as const };
        panel.addEnvironment('acme', `${name}-${index}`, { repository: name, gitRef }, { state: 'built' });
      }
    }
    return [
      ...(await progress.step('time to interactive', () => timeToInteractive(browser, panel))),
      ...(await progress.step(`${logLines} log lines`, () => longLog(browser, panel))),
      ...(await progress.step(`${rows} rows`, () => longList(browser, panel))),
    ];
  } finally {
    await panel.stopApi();
  }
}

async function openLocal(browser: Browser, panel: LocalPanel): Promise<{ context: BrowserContext; page: Page }> {
  // waitForFunction() evaluates text in the page, which the panel's content security policy would refuse.
  const context = await browser.newContext({
    ...{ baseURL: panel.url, viewport: { width: 1280, height: 900 }, bypassCSP: true },
  });
  await context.addCookies([{ name: 'token', value: await panel.login(user), url: panel.url }]);
  return { context, page: await context.newPage() };
}

/** Runs in the page before its scripts: records when the first row is in the document. */
const recordFirstRow = `new MutationObserver((_records, observer) => {
  if (!document.querySelector('.environment-row')) return;
  observer.disconnect();
  requestAnimationFrame(() => { window.firstRowAt = performance.now(); });
}).observe(document, { childList: true, subtree: true });`;

async function timeToInteractive(browser: Browser, panel: LocalPanel): Promise<Figure[]> {
  const once = async (isSlow: boolean) => {
    const { context, page } = await openLocal(browser, panel);
    await page.addInitScript(recordFirstRow);
    if (isSlow) {
      const session = await context.newCDPSession(page);
      await session.send('Network.emulateNetworkConditions', slowNetwork);
    }
    await page.goto('/repositories/acme.shop');
    await page.waitForFunction('window.firstRowAt > 0');
    const taken = z.number().parse(await page.evaluate('window.firstRowAt'));
    await context.close();
    return taken;
  };
  const samples: Record<'fast' | 'slow', number[]> = { fast: [], slow: [] };
  for (let round = 0; round < rounds; round++) {
    samples.fast.push(await once(false));
    samples.slow.push(await once(true));
  }
  const name = 'time until a repository is shown, without a browser cache';
  return [
    { name, unit: 'ms', samples: samples.fast },
    { name: `${name}, 400 ms and 1 Mbit/s`, unit: 'ms', samples: samples.slow },
  ];
}

async function longLog(browser: Browser, panel: LocalPanel): Promise<Figure[]> {
  const build = { number: 1, result: 'succeeded', startedAt: new Date().toISOString() } as const;
  const gitRef = { name: 'main', type: 'branch' as const };
  const { metadata } = panel.addEnvironment('acme', 'log', { repository: 'shop', gitRef }, { state: 'built', build });
  const logId = `${metadata.uid ?? ''}/1`;
  const line = (seq: number) => ({
    ...{ seq, time: build.startedAt, service: 'web', stage: 'build' },
    line: `\u001b[36m#${seq}\u001b[0m GET /orders/${seq} 200 in ${seq % 97} ms`,
  });
  const perFrame = 500;
  for (let first = 1; first <= logLines; first += perFrame) {
    panel.logReader.write(logId, ...Array.from({ length: perFrame }, (_none, index) => line(first + index)));
  }
  const end = { result: 'succeeded', message: '' };
  panel.logReader.write(logId, { seq: logLines + 1, time: build.startedAt, end });
  panel.logReader.end(logId);
  const { context, page } = await openLocal(browser, panel);
  try {
    page.setDefaultTimeout(300_000);
    await page.goto('/repositories/acme.shop');
    await page.locator('.environment-row').first().waitFor();
    const before = await heapMiB(page);
    const start = performance.now();
    await page.goto('/environments/acme.log');
    await page.locator('.log-end').waitFor();
    const seconds = (performance.now() - start) / 1000;
    const name = `${logLines.toLocaleString('en')} log lines`;
    return [
      { name: `${name}: time until all are there`, unit: 's', samples: [seconds] },
      {
        name: `${name}: heap`,
        unit: 'MiB',
        samples: [await heapMiB(page)],
        baseline: { name: 'a short page', samples: [before] },
      },
      ...frameFigures(name, await framesOf(page, `document.querySelector('.log-scroller')`)),
    ];
  } finally {
    await context.close();
  }
}

async function longList(browser: Browser, panel: LocalPanel): Promise<Figure[]> {
  const { context, page } = await openLocal(browser, panel);
  try {
    page.setDefaultTimeout(300_000);
    await page.addInitScript(recordFirstRow);
    await page.goto('/repositories/acme.many');
    await page.waitForFunction('window.firstRowAt > 0');
    const first = z.number().parse(await page.evaluate('window.firstRowAt'));
    const before = await heapMiB(page);
    const start = performance.now();
    const shown = z.number().parse(await page.evaluate(showAll));
    const seconds = (performance.now() - start) / 1000;
    if (shown !== rows) throw new Error(`${shown} rows are shown`);
    const name = `${rows.toLocaleString('en')} environments`;
    return [
      { name: `${name}: time until the first are shown`, unit: 'ms', samples: [first] },
      { name: `${name}: time until all rows are shown, page by page`, unit: 's', samples: [seconds] },
      {
        name: `${name}: heap with all rows`,
        unit: 'MiB',
        samples: [await heapMiB(page)],
        baseline: { name: 'the first page', samples: [before] },
      },
      ...frameFigures(name, await framesOf(page, 'document.scrollingElement')),
    ];
  } finally {
    await context.close();
  }
}

/** Clicks as soon as there is a button that can be clicked. */
const showAll = `(async () => {
  for (;;) {
    const button = [...document.querySelectorAll('button')].find((one) => one.textContent === 'Show more');
    if (!button) return document.querySelectorAll('.environment-row').length;
    if (!button.disabled) button.click();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
})()`;

/** Returns the time between frames while an element is scrolled from its end to its start and back. */
async function framesOf(page: Page, element: string): Promise<number[]> {
  const script = `new Promise((resolve) => {
    const element = ${element};
    const height = element.scrollHeight - element.clientHeight;
    const frames = [];
    const start = performance.now();
    let last = start;
    const step = (now) => {
      frames.push(now - last);
      last = now;
      const share = (now - start) / ${scrollMs};
      element.scrollTop = height * Math.abs(1 - 2 * share);
      if (share < 1) requestAnimationFrame(step);
      else resolve(frames.slice(2));
    };
    requestAnimationFrame(step);
  })`;
  return z.array(z.number()).parse(await page.evaluate(script));
}

function frameFigures(name: string, frames: readonly number[]): Figure[] {
  return [0.5, 0.95].map((share) => ({
    name: `${name}: time between frames while scrolling, p${100 * share}`,
    unit: 'ms',
    samples: [percentile(frames, share)],
  }));
}

const metricsSchema = z.object({ metrics: z.array(z.object({ name: z.string(), value: z.number() })) });

/** Returns what the page's scripts hold after a garbage collection. */
async function heapMiB(page: Page): Promise<number> {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = metricsSchema.parse(await session.send('Performance.getMetrics'));
  await session.detach();
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN) / 2 ** 20;
}

/** Measures the time from a write to the API server until a browser shows it. */
function changeOnScreen(progress: Progress, browser: Browser): Promise<Figure[]> {
  return withBench(progress, randomName('none'), async (bench) => {
    const { harness, cluster, watch } = bench;
    const target = await progress.step('an environment', () => addEnvironment(bench, harness));
    const { apiUrl } = harness.connection;
    const context = await browser.newContext({ baseURL: apiUrl, viewport: { width: 1280, height: 900 } });
    await context.addCookies([{ name: 'token', value: harness.client.token ?? '', url: apiUrl }]);
    const page = await context.newPage();
    let onShown: (name: string) => void = () => undefined;
    await page.exposeFunction('shown', (name: string) => onShown(name));
    const { namespace } = environmentAt(target);
    await page.goto(`/groups/${namespace.replace(/^group-/, '')}`);
    await page.locator('.repository-card a').first().click();
    await page.locator('.environment-row').first().waitFor();
    await page.locator('.connection', { hasText: 'live' }).waitFor();
    await page.evaluate(`new MutationObserver(() => {
      const text = document.querySelector('.environment-row .subject')?.textContent ?? '';
      requestAnimationFrame(() => setTimeout(() => window.shown(text)));
    }).observe(document.body, { childList: true, subtree: true, characterData: true })`);
    const arrived: number[] = [];
    const seen: number[] = [];
    await progress.step(`${changes} changes`, async () => {
      for (let index = 0; index < changes; index++) {
        const displayName = `change ${index}`;
        const start = performance.now();
        const since = () => performance.now() - start;
        const isSeen = (one: Environment | undefined) => one?.spec.displayName === displayName;
        const onScreen = new Promise<void>((resolve) => {
          onShown = (name) => {
            if (name !== displayName) return;
            arrived.push(since());
            resolve();
          };
        });
        await Promise.all([
          watch.until(target, isSeen, 30).then(() => seen.push(since())),
          cluster.client.patch(ENVIRONMENT, environmentAt(target), { spec: { displayName } }),
          onScreen,
        ]);
        await sleep(Math.max(0, changeEveryMs - since()));
      }
    });
    await context.close();
    return [0.5, 0.95].map((share) => ({
      name: `change in the cluster → on screen, p${100 * share}`,
      unit: 'ms',
      samples: [percentile(arrived, share)],
      baseline: { name: 'seen by a watch of the API server', samples: [percentile(seen, share)] },
      target: '≤ 300 ms',
    }));
  });
}
