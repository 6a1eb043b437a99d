import { afterAll, beforeAll, expect } from '@jest/globals';
import { NODE_CONTAINER } from '../cluster/kind-cluster.ts';
import { nodeImageNamed } from '../cluster/images/node-image.ts';
import { tryOnNode } from '../cluster/on-node.ts';
import { Problem } from '../support/problem.ts';
import { run } from '../support/run.ts';
import { waitFor } from '../support/wait-for.ts';
import { pushRepository } from '../sample/push-repository.ts';
import {
  addMetadataAddress,
  forbiddenTargets,
  OWN_BUILDER,
  reachedByNode,
  startPublicServer,
} from './attack-targets.ts';
import { attackingPage, attackOutcomes, jobOutcomes, reached, type Outcomes, type Targets } from './attacking-page.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from './harness.ts';
import { pushPullRequest } from './push-pull-request.ts';
import { testsSideBySide } from './side-by-side.ts';
import { smallPage } from './small-page.ts';

/**
 * Attacks from inside: what build steps, services and jobs of a branch and of a fork reach over the network. Each target
 * is one at which something listens, so that what is not reached was denied.
 */

let harness: Harness;
let other: Harness;
let repository: string;
let origin: string;
let targets: Targets;
let outside: Awaited<ReturnType<typeof startPublicServer>>;
/** Whether the node was built locally, with an agent that enforces policies. */
let isAgentInstalled: boolean;
let removeMetadataAddress: (() => Promise<void>) | undefined;

beforeAll(async () => {
  isAgentInstalled = await hasAgent();
  [harness, other, outside, removeMetadataAddress] = await Promise.all([
    startHarness('attack'),
    startHarness('victim'),
    startPublicServer(),
    addMetadataAddress(),
  ]);
  const [sameGroup, otherGroup] = await Promise.all([harness, other].map((one) => spawnOf(one, smallPage('victim'))));
  if (sameGroup === undefined || otherGroup === undefined) throw new Error('nothing was spawned');
  await Promise.all([harness.built(sameGroup), other.built(otherGroup)]);
  const forbidden = await forbiddenTargets(harness.kubectl, {
    ...{ sameGroup, otherGroup },
    ...{ ownBuilder: `group-${harness.group}`, builder: `group-${other.group}` },
  });
  const { hostname, port } = new URL(outside.url);
  const listening = { ...forbidden, outside: { host: hostname, port: Number(port) } };
  // kube-proxy forwards to a new Service only after a while.
  await waitFor('each target to be reachable from the node', 30, async () => {
    expect(await reachedByNode(listening)).toEqual(Object.keys(listening));
    return true;
  });
  targets = { ...listening, ...targetsOnLink() };
  origin = `${harness.connection.gitUrl}/${harness.group}/attack.git`;
  await pushRepository({ url: origin, branch: 'main', files: attackingPage(targets, outside.url) });
  await pushPullRequest(origin, 'main', 1);
  repository = await harness.addRepository('attack', origin);
}, 240_000);

afterAll(async () => {
  await Promise.all([harness.remove(), other.remove(), outside.remove(), removeMetadataAddress?.()]);
}, 60_000);

async function spawnOf(one: Harness, files: Record<string, string>): Promise<string> {
  const url = `${one.connection.gitUrl}/${one.group}/victim.git`;
  await pushRepository({ url, branch: 'main', files });
  return one.spawn(await one.addRepository('victim', url), 'main');
}

async function hasAgent(): Promise<boolean> {
  const image = await run('docker', ['inspect', '--format', '{{.Config.Image}}', NODE_CONTAINER]);
  if (!nodeImageNamed(image.trim()).isBuiltLocally) return false;
  if ((await tryOnNode('systemctl', 'is-active', 'network-policy-agent')) !== undefined) return true;
  throw new Problem(
    'The node enforces no NetworkPolicies: it is from an older image, or its agent failed. ' +
      'Run `npm run down && npm run up`, or read `journalctl -u network-policy-agent` on the node.',
  );
}

/**
 * The node's IPv6 address on the link to the pod, which every pod has although the cluster has only IPv4. kindnet knows
 * only addresses that Kubernetes gave, so there the policies do not apply to it (docs/explanation/security.md).
 */
function targetsOnLink(): Targets {
  if (!isAgentInstalled) return {};
  return { 'kubelet, by IPv6': { host: 'link', port: 10250 }, 'Kubernetes API, by IPv6': { host: 'link', port: 6443 } };
}

async function ofJob(id: string): Promise<Outcomes> {
  const args = ['logs', '--namespace', namespaceOf(id), '--selector', 'coppice.dev/service=job', '--tail=1'];
  return jobOutcomes(await harness.kubectl(args));
}

/** Attacks from an environment's build step, service and job. */
async function attackFrom(id: string, ofBuild: readonly string[]): Promise<void> {
  const { weburl } = await harness.built(id);
  const { build, service, added } = attackOutcomes(await pageWith(weburl, '"service"'));
  expect(added.trim()).toBe('{}');
  // Builds push to this registry, which refuses what they have no credentials for (long/hostile-fork.test.ts).
  expect(reached(build)).toEqual(['DNS', ...ofBuild, 'outside', 'registry of built images']);
  expect(reached(service)).toEqual(['DNS', 'outside', 'own service']);
  expect(reached(await ofJob(id))).toEqual(['DNS', 'outside', 'own service']);
}

testsSideBySide(
  {
    async 'lets a branch reach its own services, DNS and the internet, and the tester reach the branch'() {
      const id = await harness.spawn(repository, 'main');
      await attackFrom(id, [OWN_BUILDER]);
      await harness.client.waitForEnvironment(id, (one) => conditionOf(one, 'Tested')?.status === 'True', 60);
    },

    async 'lets a fork reach nothing else'() {
      await attackFrom(await harness.spawn(repository, '', { gitRef: { name: '1', type: 'pull request' } }), []);
    },
  },
  240_000,
);
