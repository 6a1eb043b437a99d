// Opens one page, in a process of its own: what a page makes it receive counts as the page's memory, and ends nothing else.
import { z } from 'zod';
import { Environments } from '../network/environments.ts';
import { CouldNotRun } from '../test-types/kind.ts';
import { visitSchema, type PageSnapshot } from './page-snapshot.ts';
import { visitPage } from './visit-page.ts';

const orderSchema = z.strictObject({
  visit: visitSchema,
  /** Parent URL of environments. */
  environmentsUrl: z.url(),
  executable: z.string(),
  address: z.string(),
  mark: z.string(),
});
export type VisitOrder = z.infer<typeof orderSchema>;

/** The result of a visit; `reason` reports why it could not be made. */
export type VisitResult = { snapshot: PageSnapshot } | { reason: string; cause: string };

process.once('message', (message) => {
  void run(message).then((result) =>
    process.send?.(result, () => {
      // The tester may have ended the connection meanwhile.
      if (process.connected) process.disconnect();
    }),
  );
});

async function run(message: unknown): Promise<VisitResult> {
  try {
    const { visit, environmentsUrl, ...rest } = orderSchema.parse(message);
    const environment = new Environments(environmentsUrl).of(visit.url);
    if (!environment) throw new Error(`${visit.url} is not an environment's`);
    return { snapshot: await visitPage(visit, { environment, ...rest, now: () => performance.now() }) };
  } catch (error) {
    const reason = error instanceof CouldNotRun ? error.message : 'the browser ended. Run the tests again';
    return { reason, cause: String(error instanceof CouldNotRun ? error.cause : error) };
  }
}
