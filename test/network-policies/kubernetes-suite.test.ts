import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { dockerBuild } from '../cluster/images/docker.ts';
import { NODE_CONTAINER } from '../cluster/kind-cluster.ts';
import { KUBECONFIG_FILE } from '../support/paths.ts';
import { buildPrograms, programPath, testPackage } from '../cluster/go/programs.ts';
import { startProgress } from '../support/progress.ts';
import { run } from '../support/run.ts';

/**
 * The network of the local cluster: the unit tests of the agent that enforces NetworkPolicies, and the suite with which
 * Kubernetes verifies that a network does.
 */

/** The image of the suite's pods. */
const image = 'registry.k8s.io/e2e-test-images/agnhost:2.63.0';
const dockerfile = 'FROM scratch\nCOPY agnhost /agnhost\nENTRYPOINT ["/agnhost"]\nCMD ["pause"]\n';
const detail = () => undefined;
let context: string;

beforeAll(() => {
  context = mkdtempSync(join(tmpdir(), 'agnhost-'));
});
afterAll(() => rmSync(context, { recursive: true }));

test('the agent translates policies into rules of nft', async () => {
  await testPackage('./networkpolicy', detail);
}, 1_200_000);

test("Kubernetes' suite for NetworkPolicies passes, without SCTP, which not every kernel has", async () => {
  await buildPrograms(['agnhost', 'network-policy-suite'], startProgress());
  copyFileSync(programPath('agnhost'), join(context, 'agnhost'));
  writeFileSync(join(context, 'Dockerfile'), dockerfile);
  await dockerBuild(image, context, { recipe: 'test', detail });
  const load = 'docker save "$1" | docker exec -i "$2" ctr -n k8s.io images import -';
  await run('sh', ['-c', load, 'sh', image, NODE_CONTAINER]);
  const options = ['--provider', 'skeleton', '--ginkgo.skip', 'SCTP', '--ginkgo.no-color', '--ginkgo.succinct'];
  const output = await run(programPath('network-policy-suite'), ['--kubeconfig', KUBECONFIG_FILE, ...options], {
    deadline: 3600,
  });
  expect(output).toMatch(/[1-9]\d*\/\d+ specs .*SUCCESS!/);
}, 4_800_000);
