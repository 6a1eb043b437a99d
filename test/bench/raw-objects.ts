import type { RawCluster } from './raw-cluster.ts';

/** What the benchmark's web service is made of, in a namespace of its own. */
export interface RawService {
  namespace: string;
  image: string;
  host: string;
}

const labels = { app: 'web' };
const pull = [{ name: 'registry' }];

export function namespaceObjects({ dockerConfig }: RawCluster, namespace: string): object[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'registry', namespace },
      type: 'kubernetes.io/dockerconfigjson',
      stringData: { '.dockerconfigjson': dockerConfig, 'config.json': dockerConfig },
    },
  ];
}

export function webObjects({ ingressClassName }: RawCluster, { namespace, image, host }: RawService): object[] {
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            imagePullSecrets: pull,
            containers: [{ name: 'web', image, readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 } }],
          },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace },
      spec: { selector: labels, ports: [{ port: 8080 }] },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'web', namespace },
      spec: {
        ...(ingressClassName !== undefined && { ingressClassName }),
        rules: [
          {
            host,
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 8080 } } } }],
            },
          },
        ],
      },
    },
  ];
}

/** One Job: a clone, then a buildctl that pushes. */
export function buildJob(
  { cloneImage, buildctlImage, buildkitd }: RawCluster,
  { namespace, origin, branch, image }: { namespace: string; origin: string; branch: string; image: string },
): object {
  const source = [{ name: 'source', mountPath: '/source' }];
  const { hostname, port } = new URL(origin);
  // curl takes every *.localhost for its own machine; in the cluster such a name is another's.
  const resolved = `${hostname}:${port === '' ? 80 : port}:$(getent ahostsv4 ${hostname} | head -n 1 | cut -d ' ' -f 1)`;
  const clone = `git -c http.curloptResolve=${resolved} clone --quiet --depth=1 --branch ${branch} ${origin} /source/code`;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'build', namespace },
    spec: {
      backoffLimit: 0,
      template: {
        spec: {
          restartPolicy: 'Never',
          securityContext: { runAsUser: 1000, fsGroup: 1000 },
          initContainers: [
            {
              name: 'clone',
              image: cloneImage,
              command: ['sh', '-c', clone],
              env: [{ name: 'HOME', value: '/tmp' }],
              volumeMounts: source,
            },
          ],
          containers: [
            {
              name: 'build',
              image: buildctlImage,
              command: ['buildctl'],
              args: [`--addr=${buildkitd}`, ...buildctlArguments('/source/code', image)],
              env: [{ name: 'DOCKER_CONFIG', value: '/credentials' }],
              volumeMounts: [...source, { name: 'registry', mountPath: '/credentials' }],
            },
          ],
          volumes: [
            { name: 'source', emptyDir: {} },
            { name: 'registry', secret: { secretName: 'registry' } },
          ],
        },
      },
    },
  };
}

export function buildctlArguments(folder: string, image: string): string[] {
  return [
    'build',
    '--progress=plain',
    '--frontend=dockerfile.v0',
    `--local=context=${folder}`,
    `--local=dockerfile=${folder}`,
    `--output=type=image,name=${image},push=true,registry.insecure=true`,
  ];
}
