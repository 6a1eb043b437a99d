import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readConnection } from '../../cluster/connection.ts';
import { kubectlOf } from '../../cluster/kubectl.ts';
import { REPOSITORY_ROOT } from '../../support/paths.ts';
import { toolPath } from '../../cluster/go/programs.ts';
import { run } from '../../support/run.ts';

/** The checks of the cluster by `helm test`, by the operator at its start, and with settings that do not fit. */
const connection = readConnection();
const kubectl = kubectlOf(connection);
const system = ['--namespace', 'coppice-system'];

/** Whether the cluster was brought up with `--metrics`. */
async function hasMetrics(): Promise<boolean> {
  return (await kubectl(['get', 'apiservices', '--output', 'name'])).includes('metrics.k8s.io');
}

test('`helm test` finds that policies are enforced and that the local cluster fits', async () => {
  const helm = toolPath('helm');
  // The pod of the first test is deleted when it succeeds.
  await run(helm, ['test', 'coppice', '--kubeconfig', connection.kubeconfig, ...system], { deadline: 400 });
  const log = await kubectl([...system, 'logs', 'pod/coppice-doctor']);
  for (const check of [
    'Kubernetes',
    'StorageClass',
    'IngressClass',
    'Ingress controller',
    'DNS',
    'registry',
    'admission',
  ]) {
    expect(log).toMatch(new RegExp(`^ok +${check}: `, 'm'));
  }
  expect(log).not.toMatch(/^error/m);
  expect(log).toContain(
    (await hasMetrics()) ? 'ok      metrics: ' : 'warning metrics: the metrics API is not available',
  );
}, 450_000);

test("the operator's log has what does not fit", async () => {
  const log = await kubectl([...system, 'logs', 'deployment/coppice-operator', '--tail=-1']);
  expect(/"level":"warn".*"check":"metrics"/.test(log)).toBe(!(await hasMetrics()));
});

test('names settings that do not fit, and fails', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'doctor-'));
  const file = join(folder, 'operator.yaml');
  const config = await kubectl([
    ...system,
    'get',
    'configmap',
    'coppice-operator',
    '--output',
    'jsonpath={.data.operator\\.yaml}',
  ]);
  writeFileSync(file, config.replace(/^ {2}namespace: traefik$/m, '  className: nginx\n  namespace: elsewhere'));
  const env = { CONFIG_FILE: file, KUBECONFIG: connection.kubeconfig };
  const command = [
    '-c',
    '"$0" "$1"; echo "exit code $?"',
    process.execPath,
    join(REPOSITORY_ROOT, 'operator/doctor.ts'),
  ];
  const output = await run('sh', command, { env });
  expect(output).toContain('exit code 1');
  expect(output).toContain('there is no IngressClass nginx');
  expect(output).toContain('no Service in the namespace elsewhere has a pod');
  rmSync(folder, { recursive: true });
}, 90_000);
