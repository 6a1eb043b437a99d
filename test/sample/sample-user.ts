import { createHash, randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { apply, type Kubectl } from '../cluster/kubectl.ts';
import type { Cluster } from '../cluster/running-cluster.ts';

export const SAMPLE_EMAIL = 'sample@example.com';
export const SAMPLE_GROUP = 'sample';

const location = ['--namespace', 'git', 'get', 'secret', 'sample-user', '--ignore-not-found'];

/**
 * Returns the sample user's password. The cluster stores it, so that every checkout can read it; without it, an
 * existing sample of unknown password is deleted, to be created again.
 */
export async function samplePassword({ kubectl, isNew }: Pick<Cluster, 'kubectl' | 'isNew'>): Promise<string> {
  if (!isNew) {
    const kept = await kubectl([...location, '--output', 'jsonpath={.data.password}']);
    if (kept !== '') return Buffer.from(kept, 'base64').toString('utf8');
    await deleteSample(kubectl);
  }
  const password = randomBytes(12).toString('base64url');
  const metadata = { name: 'sample-user', namespace: 'git' };
  await apply(kubectl, stringify({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { password } }));
  return password;
}

async function deleteSample(kubectl: Kubectl): Promise<void> {
  const args = ['delete', 'groups.coppice.dev', SAMPLE_GROUP, '--ignore-not-found', '--timeout=120s'];
  await kubectl(args, { deadline: 130 });
  const record = `user-${createHash('sha256').update(SAMPLE_EMAIL).digest('hex').slice(0, 32)}`;
  await kubectl(['--namespace', 'coppice-users', 'delete', 'secret', record, '--ignore-not-found']);
}
