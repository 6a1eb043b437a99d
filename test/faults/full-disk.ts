import assert from 'node:assert/strict';
import type { Figure } from '../bench/measure.ts';
import { secondsOf } from '../bench/measure.ts';
import { withCleanUp } from '../support/clean-up.ts';
import type { EnvironmentAnswer } from '../client/rest-client.ts';
import type { Progress } from '../support/progress.ts';
import { conditionOf, pageWith, startHarness, type Harness } from '../end-to-end/harness.ts';
import { smallPage } from '../end-to-end/small-page.ts';
import { pushRepository } from '../sample/push-repository.ts';
import { nothingLeft } from './nothing-left.ts';
import { onNode } from '../cluster/on-node.ts';

const inBuilders = ['--namespace', 'coppice-builders'];
const volumeMiB = 96;
/** The message of a build without disk space, and the chart value that an administrator can change. */
const fullVolume = /no space left on device[^]*builder\.cache\.size|builder\.cache\.size[^]*no space left on device/i;
const usedTooMuch = /more disk[^]*builder\.ephemeral\.storage/;

const wasteful = (text: string, step: string) => ({
  ...smallPage(text),
  Dockerfile: `FROM busybox:1\nRUN echo ${text} && ${step}\nCOPY index.html /www/\n`,
});

/**
 * Fills a small volume of a group's builder, first by a build and then by something else: builds fail with
 * instructions, and later ones succeed as soon as there is space.
 */
export function fullDisk(progress: Progress): Promise<Figure[]> {
  return withRepository(progress, async ({ harness, url, repository }) => {
    const push = async (files: Record<string, string>) => {
      await pushRepository({ url, branch: 'main', files });
      await harness.sync(repository);
    };
    await push(smallPage('page 1'));
    const id = await harness.spawn(repository, 'main');
    const { weburl } = await harness.built(id);
    const folder = await progress.step(`a volume of ${volumeMiB} MiB`, () => onSmallVolume(harness));
    const fill = async () => {
      await progress.step('a build that fills it', async () => {
        await push(wasteful('too-large', `dd if=/dev/zero of=/large bs=1M count=${2 * volumeMiB}`));
        await requireWords(harness, id, fullVolume);
        await pageWith(weburl, 'page 1');
      });
      const next = await progress.step('the next one finds room', () =>
        secondsOf(async () => {
          await push(smallPage('page 2'));
          await pageWith(weburl, 'page 2', 240);
        }),
      );
      await progress.step('a volume that is full before it starts', async () => {
        await onNode('sh', '-c', `dd if=/dev/zero of=${folder}/filler bs=64k 2>/dev/null || true`);
        await push(smallPage('page 3'));
        const isRetried = (message: string | undefined) => /retried.*disk is full/.test(message ?? '');
        const describe = (one: EnvironmentAnswer) => isRetried(conditionOf(one, 'Reconciling')?.message);
        await harness.client.waitForEnvironment(id, describe, 120);
        await onNode('rm', `${folder}/filler`);
      });
      const after = await progress.step('it is built when there is room again', () =>
        secondsOf(() => pageWith(weburl, 'page 3', 240)),
      );
      return [
        { name: 'push → page after a build that filled the volume', unit: 's', samples: [next] },
        { name: 'free space → page after a full volume', unit: 's', samples: [after] },
      ];
    };
    return withCleanUp(fill, async () => {
      await harness.kubectl([...inBuilders, 'delete', 'pod', `group-${harness.group}`, '--ignore-not-found']);
      await onNode('umount', folder);
    });
  });
}

/**
 * An untrusted build uses more disk than an ephemeral builder permits: it fails with instructions, and others continue.
 */
export function overfullEphemeral(progress: Progress): Promise<Figure[]> {
  return withRepository(progress, async ({ harness, url, repository }) => {
    await pushRepository({ url, branch: 'main', files: smallPage('page 1') });
    const step = 'fallocate -l 6G /large && sleep 120';
    await pushRepository({ url, branch: 'work', ref: 'refs/pull/1/head', files: wasteful('too-large', step) });
    await harness.sync(repository);
    const gitRef = { type: 'pull request', name: '1' };
    const id = await harness.spawn(repository, 'main', { gitRef });
    const seconds = await progress.step('a build that takes too much', () =>
      secondsOf(async () => {
        assert.doesNotMatch(await requireWords(harness, id, usedTooMuch), /tries$/);
      }),
    );
    await progress.step('the next one is well', async () => {
      await pushRepository({ url, branch: 'work', ref: 'refs/pull/1/head', files: smallPage('offer 2') });
      await harness.sync(repository);
      await pageWith((await harness.client.environment(id)).weburl, 'offer 2', 120);
    });
    return [{ name: 'build → failure for too much disk', unit: 's', samples: [seconds] }];
  });
}

interface World {
  harness: Harness;
  url: string;
  repository: string;
}

/** Creates a repository with a first commit. */
async function withRepository(progress: Progress, work: (world: World) => Promise<Figure[]>): Promise<Figure[]> {
  const harness = await startHarness('fault');
  return nothingLeft(harness, progress, async () => {
    const url = `${harness.connection.gitUrl}/${harness.group}/disk.git`;
    await pushRepository({ url, branch: 'main', files: smallPage('page 0') });
    return work({ harness, url, repository: await harness.addRepository('disk', url) });
  });
}

async function requireWords({ client }: Harness, id: string, words: RegExp): Promise<string> {
  const isFailed = (message: string | undefined) => message !== undefined && words.test(message);
  const found = await client.waitForEnvironment(id, (one) => isFailed(conditionOf(one, 'Stalled')?.message), 240);
  assert.equal(conditionOf(found, 'Built')?.status, 'False');
  return conditionOf(found, 'Stalled')?.message ?? '';
}

/** Restarts the group's builder on a small file system instead of its volume. Returns the folder on the node. */
async function onSmallVolume({ kubectl, group }: Harness): Promise<string> {
  const builder = `group-${group}`;
  const field = (kind: string, name: string, path: string) =>
    kubectl([...inBuilders, 'get', kind, name, '--output', `jsonpath=${path}`]);
  const volume = await field('pvc', builder, '{.spec.volumeName}');
  const folder = await field('pv', volume, '{.spec.hostPath.path}{.spec.local.path}');
  assert.match(folder, /^\/[\w./-]+$/);
  await kubectl([...inBuilders, 'delete', 'pod', builder, '--wait']);
  await onNode('mount', '-t', 'tmpfs', '-o', `size=${volumeMiB}m,mode=0777`, 'tmpfs', folder);
  return folder;
}
