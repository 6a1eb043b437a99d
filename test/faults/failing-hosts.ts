import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { secondsOf, type Figure } from '../bench/measure.ts';
import { withCleanUp } from '../support/clean-up.ts';
import type { Progress } from '../support/progress.ts';
import { pageWith, startHarness, type Harness } from '../end-to-end/harness.ts';
import { STATES, statusesAt } from '../end-to-end/commit-statuses.ts';
import { adminOf, connect, HOSTED, makeRepository, type TestRepository } from '../end-to-end/test-hosts.ts';
import type { Fault } from '../git-hosts/faults.ts';
import { KINDS, type KindName } from '../git-hosts/kind.ts';
import { nothingLeft } from './nothing-left.ts';

const awaySeconds = 30;
const withinSeconds = 300;
const newCommit = 'commit 2';

/** An environment of a branch, and what is pushed to it. */
interface HostedBranch {
  kind: 'generic' | KindName;
  id: string;
  weburl: string;
  host: TestRepository;
}

/** A type of host, and how it fails. */
interface Failing {
  kind: KindName;
  answer: Fault['answer'];
}

/**
 * Pushes commits to Git hosts that hang, are slow, truncate responses or refuse, and to one that works. The working
 * host's commit is built meanwhile, and the others' when they respond again, with the commit's status.
 */
export async function failingHosts(seed: number, progress: Progress): Promise<Figure[]> {
  const failing = failuresFrom(seed);
  const harness = await startHarness('fault');
  const hosts: TestRepository[] = [];
  return nothingLeft(harness, progress, async () => {
    const work = async () => {
      const locations = await progress.step('five repositories', () =>
        Promise.all(
          (['generic', ...KINDS] as const).map(async (kind) => {
            const host = await makeRepository(kind, harness.group, harness.connection.gitUrl);
            hosts.push(host);
            return branchAt(harness, kind, host);
          }),
        ),
      );
      const calm = locations.filter(({ kind }) => kind === 'generic');
      const hosted = locations.filter(({ kind }) => kind !== 'generic');
      const alone = await progress.step('a push while all is well', () => pushedTo(calm, 'commit 1b'));
      return progress.step(describe(failing), async () => {
        await Promise.all(failing.map(fail));
        const besideThenRecover = async () => {
          const seconds = await pushedTo(calm, newCommit);
          await sleep(Math.max(0, awaySeconds - seconds) * 1000);
          await Promise.all(KINDS.map((kind) => recover(harness, kind)));
          return seconds;
        };
        const [commits, beside] = await Promise.all([
          Promise.all(hosted.map(({ host }) => host.push('refs/heads/main', newCommit))),
          besideThenRecover(),
        ]);
        const after = await secondsOf(() =>
          Promise.all(hosted.map((location, index) => requireBuilt(location, commits[index] ?? ''))),
        );
        return [
          {
            name: `push → page at a healthy host while others fail (${describe(failing)})`,
            unit: 's',
            samples: [beside],
            baseline: { name: 'without failures', samples: [alone] },
          },
          {
            name: `${KINDS.length} hosts answer again → new commits built and reported (seed ${seed})`,
            unit: 's',
            samples: [after],
          },
        ];
      });
    };
    return withCleanUp(work, () => Promise.all(hosts.map((host) => host.remove())));
  });

  async function fail({ kind, answer }: Failing): Promise<void> {
    // Developers can still push; otherwise there would be nothing to miss.
    const fault = { match: '^(?!.*git-receive-pack)', answer };
    await adminOf(kind).setFaults(HOSTED[kind].path(harness.group), [fault]);
  }
}

/** Returns one failure for each type, including a host that hangs and one that is slow; constant for a seed. */
function failuresFrom(seed: number): Failing[] {
  const others: Fault['answer'][] = [500, 503, 429, 'half', 'not JSON'];
  const count = KINDS.length - 2;
  const answers = fc
    .shuffledSubarray(others, { minLength: count, maxLength: count })
    .chain((some) => fc.shuffledSubarray<Fault['answer']>(['hang', 'slow', ...some], { minLength: KINDS.length }));
  const [failures = []] = fc.sample(answers, { seed, numRuns: 1 });
  return KINDS.map((kind, index) => ({ kind, answer: failures[index] ?? 'hang' }));
}

const describe = (failing: readonly Failing[]) => failing.map(({ kind, answer }) => `${kind}: ${answer}`).join(', ');

async function branchAt(harness: Harness, kind: HostedBranch['kind'], host: TestRepository): Promise<HostedBranch> {
  await host.push('refs/heads/main', 'commit 1');
  const repository = await harness.register({ name: kind, type: kind, params: host.params });
  await connect(harness.client, repository, host);
  const id = await harness.spawn(repository, 'main');
  const { weburl } = await harness.built(id);
  await pageWith(weburl, 'commit 1');
  return { kind, id, weburl, host };
}

function pushedTo(locations: readonly HostedBranch[], text: string): Promise<number> {
  return secondsOf(() =>
    Promise.all(
      locations.map(async ({ host, weburl }) => {
        await host.push('refs/heads/main', text);
        await pageWith(weburl, text, withinSeconds);
      }),
    ),
  );
}

function recover(harness: Harness, kind: KindName): Promise<void> {
  return adminOf(kind).setFaults(HOSTED[kind].path(harness.group), []);
}

async function requireBuilt({ kind, id, weburl, host }: HostedBranch, commit: string): Promise<void> {
  await pageWith(weburl, newCommit, withinSeconds);
  if (kind === 'generic') return;
  await statusesAt(host, { context: `coppice/${id}`, commit }, STATES[kind].success, withinSeconds);
}
