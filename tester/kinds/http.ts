import { z } from 'zod';
import { getFollowing, getOnce, NoAnswer, type Page } from '../network/get.ts';
import { cut, type Item, numberItem, stringItem } from '../test-types/items.ts';
import type { TestContext } from '../test-types/all-tests.ts';
import type { Kind, RunContext } from '../test-types/kind.ts';
import { type AnyTest, testOf } from '../test-types/test.ts';

const pathSchema = z.strictObject({
  path: z
    .string()
    .regex(/^\//, 'must start with /')
    .max(2000)
    .describe('Path at the host of the url, with or without a query'),
  status: z.int().min(200).max(599).default(200).describe('Expected status; for 3xx, redirects are not followed'),
  text: z.string().min(1).max(1000).optional().describe('Text that the first MiB of the body must contain'),
});
type PathParams = z.infer<typeof pathSchema>;

const params = z.strictObject({
  url: z.url(),
  paths: z
    .array(pathSchema)
    .min(1)
    .max(20)
    .default([{ path: '/', status: 200 }]),
  timeoutSeconds: z.int().min(1).max(30).default(10).describe('Time limit of each path'),
});

type HttpOptions = Pick<TestContext, 'environments' | 'lookup' | 'now'>;

export default (options: TestContext): AnyTest => testOf(httpTest(options));

/** Requests paths of the environment one after the other, and checks status, text and duration. */
export function httpTest({ environments, now, lookup }: HttpOptions): Kind<z.infer<typeof params>> {
  const fetchPage = async (
    url: URL,
    { status }: PathParams,
    context: Pick<RunContext, 'signal' | 'headers'>,
  ): Promise<Page> => {
    const options = { environments, ...context, ...(lookup && { lookup }) };
    return status >= 300 && status < 400 ? getOnce(url, options) : getFollowing(url, options);
  };
  return {
    type: 'http',
    description: 'Requests paths, checks the status and text of each response, and reports durations',
    params,
    images: false,
    run: async ({ url, paths, timeoutSeconds }, { signal, endBy, headers }) => {
      const items: Item[] = [];
      const faults: string[] = [];
      for (const wanted of paths) {
        const { path } = wanted;
        const started = now();
        const leftMs = Math.floor(Math.min(timeoutSeconds * 1000, endBy - started));
        if (leftMs <= 0) {
          faults.push(`${shown(path)}: not requested, because the test has no time left. Check fewer paths`);
          continue;
        }
        try {
          const inTime = AbortSignal.any([signal, AbortSignal.timeout(leftMs)]);
          const page = await fetchPage(below(url, path), wanted, { signal: inTime, headers });
          items.push(
            numberItem(`time ${path}`, Math.round(now() - started)),
            numberItem(`status ${path}`, page.status),
          );
          faults.push(...faultsOf(wanted, page));
        } catch (error) {
          signal.throwIfAborted();
          if (!(error instanceof NoAnswer)) throw error;
          faults.push(`${shown(path)}: ${error.message}`);
        }
      }
      items.push(...faults.map((fault, index) => stringItem(`fault ${index + 1}`, fault)));
      const passed = faults.length === 0;
      const count = paths.length === 1 ? '1 path' : `${paths.length} paths`;
      return { passed, summary: passed ? `${count} as expected` : faults.join('; '), items };
    },
  };
}

/**
 * Returns the URL of a path at the environment's host, even if the path looks like another host (`//other.example/`).
 */
function below(url: string, path: string): URL {
  return new URL(new URL(url).origin + path);
}

function faultsOf({ path, status, text }: PathParams, page: Page): string[] {
  const faults = [];
  if (page.status !== status) faults.push(`${shown(path)}: status ${page.status} instead of ${status}`);
  if (text !== undefined && !page.text.includes(text))
    faults.push(`${shown(path)}: the response lacks the text "${shown(text)}"`);
  return faults;
}

const shown = (text: string): string => cut(text, 100);
