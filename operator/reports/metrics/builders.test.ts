import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { keyOf, type Pod, type Secret } from '../../../kubernetes/resource-type.ts';
import { issueCertificates } from '../../images/builders/certificates.ts';
import { groupBuilder, ephemeralBuilder, type BuilderIdentity } from '../../images/builders/identity.ts';
import { certificateSecret } from '../../images/builders/objects.ts';
import { observeBuilders } from './builders.ts';

const now = new Date('2026-01-01T00:00:00Z');
const dayMs = 24 * 3600_000;

async function secretOf(identity: BuilderIdentity, daysOld: number): Promise<Secret> {
  const created = new Date(now.getTime() - daysOld * dayMs);
  const secret = certificateSecret(identity, 'builders', await issueCertificates(identity.name, created));
  return { ...secret, metadata: { ...secret.metadata, creationTimestamp: created.toISOString() } };
}

async function samplesOf(secrets: Secret[], running: Secret[]): Promise<string[]> {
  const registry = new Registry();
  const names = running.map(keyOf);
  const pods = { get: (key: string) => (names.includes(key) ? ({} as Pod) : undefined) };
  observeBuilders({ builderSecrets: { list: () => secrets }, pods }, registry, () => now.getTime());
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith('coppice_'));
}

test('reports builders by kind and state, the oldest cache, and the earliest expiry of a certificate in use', async () => {
  const acme = await secretOf(groupBuilder('acme'), 300);
  const globex = await secretOf(groupBuilder('globex'), 100);
  const fork = await secretOf(ephemeralBuilder('acme', { environment: 'shop-7', environmentUid: 'u7', number: 3 }), 1);
  const expiry = (now.getTime() + (365 - 100) * dayMs) / 1000;
  expect(await samplesOf([acme, globex, fork], [globex, fork])).toEqual([
    'coppice_builders{kind="group",state="running"} 1',
    'coppice_builders{kind="group",state="scaled_to_zero"} 1',
    'coppice_builders{kind="ephemeral",state="running"} 1',
    'coppice_builders{kind="ephemeral",state="scaled_to_zero"} 0',
    `coppice_builder_cache_age_seconds ${300 * 24 * 3600}`,
    `coppice_builder_certificate_expiry_seconds ${expiry}`,
  ]);
});

test('reports no age and no expiry without builders', async () => {
  const samples = await samplesOf([], []);
  expect(samples.filter((line) => !line.endsWith(' 0'))).toEqual([]);
  expect(samples.some((line) => /age|expiry/.test(line))).toBe(false);
});
