import { z } from 'zod';
import type { PageLoader, PageSnapshot } from '../browser/page-snapshot.ts';
import { cut, type Item, imageItem, numberItem, stringItem } from '../test-types/items.ts';
import type { TestContext } from '../test-types/all-tests.ts';
import type { Kind, Outcome } from '../test-types/kind.ts';
import { type AnyTest, testOf } from '../test-types/test.ts';

const params = z.strictObject({
  url: z.url(),
  path: z.string().regex(/^\//, 'must start with /').max(2000).default('/').describe('Path at the host of the url'),
  text: z.string().min(1).max(1000).optional().describe('Text that the page must show within 5 s of loading'),
  width: z.int().min(320).max(1920).default(1280).describe('Width of the window in pixels'),
  height: z.int().min(240).max(1200).default(800).describe('Height of the window in pixels'),
  consoleErrors: z.boolean().default(false).describe('Whether a page with errors in its console passes'),
});
export type PageParams = z.infer<typeof params>;

export default ({ loadPage }: TestContext): AnyTest => testOf(pageTest(loadPage));

/** Opens a page of the environment in a browser: reports a screenshot, console errors, and the load time. */
function pageTest(loadPage: PageLoader): Kind<PageParams> {
  return {
    type: 'page',
    description: 'Opens a page in Chromium, and reports a screenshot, console errors and load time',
    params,
    images: true,
    run: async (given, { signal, headers }) =>
      outcomeOf(given, await loadPage({ ...given, ...(headers && { headers }) }, signal)),
  };
}

/** Returns the test's outcome for a snapshot. */
export function outcomeOf(given: PageParams, snapshot: PageSnapshot): Outcome {
  const faults = faultsOf(given, snapshot);
  const { status, title, times, errors, moreErrors, blocked, screenshot } = snapshot;
  const items: Item[] = [
    ...(status === undefined ? [] : [numberItem('status', status)]),
    ...(title === undefined ? [] : [stringItem('title', title)]),
    ...(times.firstAnswerMs === undefined ? [] : [numberItem('first answer', times.firstAnswerMs)]),
    ...(times.loadMs === undefined ? [] : [numberItem('load time', times.loadMs)]),
    numberItem('console errors', errors.length + moreErrors),
    ...errors.map((error, index) => stringItem(`console error ${index + 1}`, error)),
    ...blocked.map((url, index) => stringItem(`blocked request ${index + 1}`, url)),
    ...(screenshot === undefined ? [] : [imageItem('screenshot', Buffer.from(screenshot, 'base64'))]),
  ];
  const passed = faults.length === 0;
  return { passed, summary: passed ? summaryOf(snapshot) : faults.join('; '), items };
}

function faultsOf({ text, consoleErrors }: PageParams, snapshot: PageSnapshot): string[] {
  const { fault, status, hasText, errors, moreErrors } = snapshot;
  if (fault !== undefined) return [fault];
  const faults = [];
  if (status !== undefined && (status < 200 || status > 299))
    faults.push(`the page has the status ${status} instead of 2xx`);
  if (text !== undefined && !hasText) faults.push(`the page does not show "${cut(text, 100)}"`);
  if (snapshot.screenshot === undefined)
    faults.push('the page does not respond, because one of its scripts does not end');
  const [first] = errors;
  if (!consoleErrors && first !== undefined) {
    const count = errors.length + moreErrors;
    faults.push(`${count} ${count === 1 ? 'error' : 'errors'} in the console: ${cut(first, 200)}`);
  }
  return faults;
}

function summaryOf({ title, times }: PageSnapshot): string {
  const named = title === undefined || title === '' ? 'the page' : `"${cut(title, 100)}"`;
  return `${named} loaded in ${times.loadMs ?? 0} ms`;
}
