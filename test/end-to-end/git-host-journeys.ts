import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { RepositoryType } from '../../crds/repository-source.ts';
import { waitFor } from '../support/wait-for.ts';
import { Journey } from './git-host-journey.ts';
import { formsOf, reportedMessages } from './reported-messages.ts';

/**
 * Defines tests of types of Git host: adding, syncing, building, rebuilding, reporting and deleting. Hosted ones are
 * emulated over real repositories (test/git-hosts).
 */
export function testJourneys(types: readonly RepositoryType[]): void {
  const since = new Date();
  const journeys: Journey[] = [];
  const runs = new Map<RepositoryType, Promise<void>>();

  // All run concurrently, because they mostly wait; each one's test reports its result.
  beforeAll(() => {
    for (const type of types) {
      const started = Journey.start(type).then((journey) => {
        journeys.push(journey);
        return journey.run();
      });
      runs.set(type, started);
    }
    void Promise.allSettled(runs.values());
  });

  afterAll(() => Promise.all(journeys.map((journey) => journey.end())), 180_000);

  test.each(types)('%s', (type) => runs.get(type), 400_000);

  test('no log, Event, resource, container or request line holds a credential', async () => {
    expect(journeys.map(({ credentials }) => credentials.length)).toEqual(types.map(() => 3));
    const hosted = journeys.filter(({ type }) => type !== 'generic');
    await Promise.all(hosted.map((journey) => journey.breakHost()));
    const reported = await waitFor('the operator to report hosts that fail', 60, async () => {
      const found = journeys[0] && (await reportedMessages(journeys[0].harness, since));
      return hosted.every(({ harness }) => found?.operator.includes(harness.group)) ? found : undefined;
    });
    for (const { type, harness, host, credentials } of journeys) {
      const record = await host.record?.();
      const texts = Object.entries({ ...reported, ...(record && { requests: JSON.stringify(record.received) }) });
      const holding = (word: string) => texts.filter(([, text]) => text.includes(word)).map(([name]) => name);
      // All texts contain the group's name, which proves that a search would find something.
      const everywhere = texts.map(([name]) => name).filter((name) => name !== 'operator' || type !== 'generic');
      expect(holding(harness.group)).toEqual(expect.arrayContaining(everywhere));
      for (const credential of credentials) {
        const basic = Buffer.from(`user:${credential}:`).toString('base64');
        expect(formsOf(credential).filter((form) => basic.includes(form))).toHaveLength(1);
        expect(formsOf(credential).flatMap(holding)).toEqual([]);
      }
    }
  }, 120_000);
}
