import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { LOCAL_FOLDER } from '../support/paths.ts';
import type { Harness } from '../end-to-end/harness.ts';

/** What a script needs to do Coppice's work without Coppice. */
export interface RawCluster {
  namespace: string;
  buildctlImage: string;
  cloneImage: string;
  registry: string;
  /** A Docker client configuration with credentials for the registry. */
  dockerConfig: string;
  ingressClassName: string | undefined;
  environmentsDomain: string;
  /** `tcp://…` of a running, warm buildkitd. */
  buildkitd: string;
  apply(objects: readonly object[]): Promise<void>;
}

const registrySchema = z.object({ username: z.string(), password: z.string(), nodeAddress: z.string().optional() });
const operatorSchema = z.looseObject({
  environmentsUrl: z.url(),
  ingress: z.looseObject({ className: z.string().optional() }),
  builder: z.looseObject({ cloneImage: z.string(), image: z.string() }),
});

/** Creates a namespace with a rootless buildkitd; the caller deletes the namespace. */
export async function startRawCluster({ kubectl, connection }: Harness, namespace: string): Promise<RawCluster> {
  const config = await kubectl([
    '-n',
    'coppice-system',
    'get',
    'configmap',
    'coppice-operator',
    '-o',
    'jsonpath={.data.operator\\.yaml}',
  ]);
  const { environmentsUrl, ingress, builder } = operatorSchema.parse(parse(config));
  // The local registry has two addresses; uses the one with a password, because buildctl would fetch tokens itself, and
  // this machine does not resolve the token server's name.
  const {
    username,
    password,
    nodeAddress: registry = connection.registry,
  } = registrySchema.parse(JSON.parse(readFileSync(join(LOCAL_FOLDER, 'registry.json'), 'utf8')));
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  const raw: RawCluster = {
    namespace,
    buildctlImage: builder.image,
    cloneImage: builder.cloneImage,
    registry,
    dockerConfig: JSON.stringify({ auths: { [registry]: { auth } } }),
    ingressClassName: ingress.className,
    environmentsDomain: new URL(environmentsUrl).hostname,
    buildkitd: `tcp://buildkitd.${namespace}.svc:1234`,
    apply: async (objects) => {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      await kubectl(['apply', '--server-side', '--filename', '-'], { input: list });
    },
  };
  await raw.apply(buildkitdObjects(raw));
  await kubectl(['-n', namespace, 'rollout', 'status', 'deployment/buildkitd', '--timeout=120s'], { deadline: 130 });
  return raw;
}

/** Returns a builder like Coppice's own, but without TLS. */
function buildkitdObjects({ namespace, registry, buildctlImage }: RawCluster): object[] {
  const labels = { app: 'buildkitd' };
  const toml = `[grpc]
  address = ["tcp://0.0.0.0:1234"]
[worker.oci]
  noProcessSandbox = true
[registry."${registry}"]
  http = true
  insecure = true
[registry."docker.io"]
  mirrors = ["${registry}/docker.io"]
`;
  const container = {
    name: 'buildkitd',
    image: buildctlImage,
    command: ['rootlesskit', '--net=host', '--copy-up=/run', 'buildkitd', '--config=/etc/buildkit/buildkitd.toml'],
    args: ['--root=/home/user/.local/share/buildkit'],
    env: [
      { name: 'XDG_RUNTIME_DIR', value: '/tmp' },
      { name: 'HOME', value: '/home/user' },
      { name: 'USER', value: 'user' },
      { name: 'DOCKER_CONFIG', value: '/etc/buildkit' },
    ],
    readinessProbe: { tcpSocket: { port: 1234 }, periodSeconds: 1 },
    volumeMounts: [
      { name: 'config', mountPath: '/etc/buildkit' },
      { name: 'cache', mountPath: '/home/user/.local/share/buildkit' },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'buildkitd', namespace },
      data: { 'buildkitd.toml': toml },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'buildkitd', namespace },
      spec: { selector: labels, ports: [{ port: 1234 }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'buildkitd', namespace },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            securityContext: {
              runAsNonRoot: true,
              runAsUser: 1000,
              runAsGroup: 1000,
              fsGroup: 1000,
              seccompProfile: { type: 'Unconfined' },
            },
            containers: [container],
            volumes: [
              { name: 'config', configMap: { name: 'buildkitd' } },
              { name: 'cache', emptyDir: {} },
              { name: 'tmp', emptyDir: {} },
            ],
          },
        },
      },
    },
  ];
}
