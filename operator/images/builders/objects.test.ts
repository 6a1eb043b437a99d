import { describe, expect, test } from '@jest/globals';
import type { Secret } from '../../../kubernetes/resource-type.ts';
import { SETTINGS } from './testing/fake-cluster.ts';
import { groupBuilder, ephemeralBuilder } from './identity.ts';
import { builderPod, builderPolicy, builderRevision, certificateSecret, certificatesIn } from './objects.ts';

const pair = (name: string) => ({ certificate: `${name} certificate`, key: `${name} key` });
const certificates = { ca: 'authority', server: pair('server'), client: pair('client') };
const own = groupBuilder('acme');
const ephemeral = ephemeralBuilder('acme', { environment: 'shop-7', environmentUid: 'u7', number: 3 });

function ownerOf(identity: typeof own, changed: object = {}): Secret {
  const secret = certificateSecret(identity, 'builders', { ...certificates, ...changed });
  return { ...secret, metadata: { ...secret.metadata, uid: 'secret-uid' } };
}
const podOf = (identity: typeof own, storage = '10Gi') =>
  builderPod({ identity, owner: ownerOf(identity), storage, settings: SETTINGS });

test('reads certificates back from the Secret unchanged', () => {
  expect(certificatesIn(certificateSecret(own, 'builders', certificates))).toEqual(certificates);
});

describe('the pod', () => {
  test("mounts only what a server needs from the Secret, neither a client's key nor a token", () => {
    const { spec } = podOf(own);
    expect(spec?.automountServiceAccountToken).toBe(false);
    const secrets = spec?.volumes?.flatMap(({ secret }) => (secret ? [secret.items?.map(({ key }) => key)] : []));
    expect(secrets).toEqual([['ca.crt', 'tls.crt', 'tls.key']]);
  });

  test('keeps the cache of a group on its volume, and that of an ephemeral builder nowhere', () => {
    const cacheOf = (identity: typeof own) => podOf(identity).spec?.volumes?.find(({ name }) => name === 'cache');
    expect(cacheOf(own)).toMatchObject({ persistentVolumeClaim: { claimName: 'group-acme' } });
    expect(cacheOf(ephemeral)).toEqual({ name: 'cache', emptyDir: { sizeLimit: '10Gi' } });
  });

  test.each([
    ['10Gi', '1000,0,8053'],
    ['1Gi', '805,0,805'],
    ['500M', '375,0,375'],
  ])('limits its cache on a volume of %s to %s', (storage, limits) => {
    expect(podOf(own, storage).spec?.containers[0]?.command).toContain(`--oci-worker-gc-keepstorage=${limits}`);
  });

  test('pulls and pushes through the proxy', () => {
    const proxied = { ...SETTINGS, proxy: { HTTPS_PROXY: 'http://proxy:3128' } };
    const pod = builderPod({ identity: own, owner: ownerOf(own), storage: '10Gi', settings: proxied });
    expect(pod.spec?.containers[0]?.env).toContainEqual({ name: 'HTTPS_PROXY', value: 'http://proxy:3128' });
  });

  test('listens at every address, of any IP family', () => {
    expect(podOf(own).spec?.containers[0]?.command).toContain('--addr=tcp://:1234');
  });

  test('is deleted with its Secret', () => {
    const owner = { apiVersion: 'v1', kind: 'Secret', name: 'group-acme', uid: 'secret-uid', controller: true };
    expect(podOf(own).metadata.ownerReferences).toEqual([owner]);
  });
});

describe('the revision', () => {
  const now = builderRevision(ownerOf(own), SETTINGS);

  test.each([
    ['image', builderRevision(ownerOf(own), { ...SETTINGS, image: 'buildkit:2' })],
    ['settings of buildkitd', builderRevision(ownerOf(own), { ...SETTINGS, configMap: 'buildkitd-2' })],
    ['resources', builderRevision(ownerOf(own), { ...SETTINGS, resources: { limits: { memory: '1Gi' } } })],
    ['proxy', builderRevision(ownerOf(own), { ...SETTINGS, proxy: { HTTP_PROXY: 'http://proxy:3128' } })],
    ['certificate', builderRevision(ownerOf(own, { server: pair('new') }), SETTINGS)],
  ])('changes with the %s', (_what, changed) => expect(changed).not.toBe(now));

  test('does not change with settings that a running builder does not need', () => {
    expect(builderRevision(ownerOf(own), { ...SETTINGS, idleSeconds: 1 })).toBe(now);
  });
});

describe('the network policy', () => {
  const clientsOf = (identity: typeof own) =>
    builderPolicy(identity, ownerOf(identity)).spec?.ingress?.flatMap(({ from = [] }) =>
      from.map(({ namespaceSelector, podSelector }) => [namespaceSelector?.matchLabels, podSelector]),
    );
  const buildPods = { matchExpressions: [{ key: 'coppice.dev/build', operator: 'Exists' }] };

  test("admits a group's builds to its builder, and one environment's to an ephemeral one", () => {
    expect(clientsOf(own)).toEqual([[{ 'coppice.dev/group': 'acme' }, buildPods]]);
    expect(clientsOf(ephemeral)).toEqual([[{ 'coppice.dev/environment-uid': 'u7' }, buildPods]]);
  });
});
