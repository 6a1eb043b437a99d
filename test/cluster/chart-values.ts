import { createHash } from 'node:crypto';
import { TOKEN_URL } from './registries/token-registry.ts';
import type { Cluster } from './running-cluster.ts';
import { IMAGES } from './versions.ts';

export const API_URL = 'http://coppice.localhost:8080';

/**
 * Returns the values of the chart for a local cluster.
 * @param allowedCidrs the networks of Git servers
 * @param privateEgress the networks that builders reach beside public ones
 */
export function chartValues(
  { registry, isMirror, isKind, nodes = 1, hubMirrors }: Cluster,
  image: string,
  testerImage: string | undefined,
  allowedCidrs: string[],
  privateEgress: string[],
): object {
  const imageValue = (name: string) => {
    const colon = name.lastIndexOf(':');
    return { repository: name.slice(0, colon), tag: name.slice(colon + 1) };
  };
  // Two cores have no capacity for a standby; the tests of failover start one. With several nodes, one may be lost.
  const replicas = nodes > 1 ? 2 : 1;
  // The second replicas start with the tester: the sample does not need them.
  const sampleReplicas = testerImage === undefined ? { replicas: 1 } : {};
  const withoutScheme = (url: string) => url.replace(/^https?:\/\//, '');
  const mirrors = isMirror ? [`${registry.address}/docker.io`] : hubMirrors.map(withoutScheme);
  const insecureRegistries = hubMirrors.filter((url) => url.startsWith('http:')).map(withoutScheme);
  return {
    image: imageValue(image),
    tester: testerImage === undefined ? { enabled: false } : { enabled: true, image: imageValue(testerImage) },
    operator: { replicas },
    api: {
      ...sampleReplicas,
      url: API_URL,
      registration: { mode: 'open', provesAddress: true },
      administrators: ['root@localhost'],
      loginsPerMinute: 600,
      requestsPerMinute: 100_000,
      limits: {
        writtenMiBPerMinute: 100_000,
        writtenMiBPerHour: 100_000,
        groupsPerAccount: 1000,
        repositoriesPerAccount: 10_000,
      },
    },
    // Benchmarks create a thousand environments in one group.
    environments: {
      url: 'http://env.localhost:8080',
      ...{ rolloutDeadlineSeconds: 90, imageDeadlineSeconds: 45, maxPerGroup: 10_000 },
      shell: { enabled: true },
    },
    ingress: { controllerNamespace: 'traefik' },
    sources: {
      maxEnvironmentsPerAccount: 20_000,
      allowedCidrs,
      ports: [80, 443, 8080],
      sshPorts: [22, 2222],
      timeoutSeconds: 10,
      deadlineSeconds: 30,
      // The emulator in test/git-hosts replaces the public hosts.
      hosts: {
        ownerhost: {
          webUrl: 'http://ownerhost.localhost:8080',
          apiUrl: 'http://ownerhost.localhost:8080/api/v3',
        },
        groupedhost: { webUrl: 'http://groupedhost.localhost:8080' },
        workspacehost: {
          webUrl: 'http://workspacehost.localhost:8080',
          apiUrl: 'http://workspacehost.localhost:8080/2.0',
        },
      },
    },
    registry: {
      address: registry.address,
      insecure: registry.insecure,
      credentialsSecret: 'registry-credentials',
      // Another checkout may have set another password at the registry.
      credentialsRevision: createHash('sha256').update(registry.password).digest('hex').slice(0, 16),
      ...(isKind && { tokenAuth: { enabled: true, url: TOKEN_URL, service: registry.address, replicas } }),
    },
    builder: {
      image: IMAGES.buildkit,
      // Short, because a developer's machine needs its memory.
      idleSeconds: 60,
      // The tests have many groups at once, more than two cores can schedule at the chart's 100m each.
      resources: { requests: { cpu: '10m' } },
      cache: { size: '10Gi' },
      ephemeral: { maxConcurrent: 2, storage: '5Gi' },
      privateEgress,
      ...(mirrors.length > 0 && { mirrors: { 'docker.io': mirrors } }),
      ...(insecureRegistries.length > 0 && { insecureRegistries }),
    },
    waker: sampleReplicas,
    redis: { image: IMAGES.valkey, resources: { requests: { cpu: '20m' } } },
  };
}
