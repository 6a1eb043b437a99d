import { afterAll, beforeAll, expect } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
import { KINDS, type KindName } from '../../git-hosts/kind.ts';
import { addedRefs } from '../git-host-journey.ts';
import { pageWith, startHarness, type Harness } from '../harness.ts';
import { testsSideBySide } from '../side-by-side.ts';
import { makeHosted } from '../test-hosts.ts';

/** With a read-only token there is no webhook, so the host is polled. */

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('polled');
}, 60_000);

afterAll(() => harness.remove(), 180_000);

async function poll(kind: KindName): Promise<void> {
  const host = await makeHosted(kind, `${harness.group}-${kind}`, []);
  try {
    await host.push('refs/heads/main', `${kind} 1`);
    await host.push('refs/heads/change', `${kind} 1`);
    const number = await host.openPull('change');
    const repository = await harness.register({ name: kind, type: kind, params: host.params });
    const patch = { spec: { sync: { intervalSeconds: 10 } } };
    const at = ['repositories.coppice.dev', kind, '--namespace', `group-${harness.group}`];
    await harness.kubectl(['patch', ...at, '--type', 'merge', '--patch', JSON.stringify(patch)]);
    await addedRefs(harness, repository, ['branch change', 'branch main', `pull request ${number}`], 90);
    // One host with ETags and one without are enough, because nothing else differs here.
    const isBuilt = kind === 'ownerhost' || kind === 'workspacehost';
    const weburl = isBuilt ? (await harness.built(await harness.spawn(repository, 'main'))).weburl : undefined;
    if (weburl !== undefined) await pageWith(weburl, `${kind} 1`);

    await host.push('refs/heads/main', `${kind} 2`);
    await host.push('refs/heads/late', `${kind} 2`);
    const next = await host.openPull('late');
    await host.closePull(number);
    await addedRefs(harness, repository, ['branch change', 'branch late', 'branch main', `pull request ${next}`], 90);
    if (weburl !== undefined) await pageWith(weburl, `${kind} 2`, 120);

    const { hooks, deliveries } = await host.record();
    expect([hooks, deliveries]).toEqual([[], []]);
    // Hosts with ETags do not send again what has not changed.
    if (kind === 'ownerhost' || kind === 'groupedhost') {
      await waitFor('a poll that found nothing new', 60, async () => {
        const { received } = await host.record();
        return received.some(({ path, status }) => status === 304 && /pulls|merge_requests/.test(path)) || undefined;
      });
    }
  } finally {
    await host.remove();
  }
}

testsSideBySide(Object.fromEntries(KINDS.map((kind) => [kind, () => poll(kind)])), 400_000);
