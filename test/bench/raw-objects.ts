import type { RawCluster } from './raw-cluster.ts';

/** A benchmark's service in a separate namespace. */
export interface RawService {
  namespace: string;
  name: string;
  image: string;
  /** Host of its pages; absent if it is not public. */
  host?: string | undefined;
}

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

export function serviceObjects(raw: RawCluster, { namespace, name, image, host }: RawService): object[] {
  const labels = { app: name };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            imagePullSecrets: pull,
            containers: [{ name, image, readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 } }],
          },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace },
      spec: { selector: labels, ports: [{ port: 8080 }] },
    },
    ...(host === undefined ? [] : [ingressObject(raw, { namespace, name, host })]),
  ];
}

function ingressObject(
  { ingressClassName }: RawCluster,
  location: { namespace: string; name: string; host: string },
): object {
  const { namespace, name, host } = location;
  const backend = { service: { name, port: { number: 8080 } } };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name, namespace },
    spec: {
      ...(ingressClassName !== undefined && { ingressClassName }),
      rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
    },
  };
}

/** An image to build from a folder of the repository. */
export interface RawImage {
  name: string;
  /** `.` is the repository itself. */
  folder: string;
  image: string;
}

/** Returns one Job: a clone, then concurrently a buildctl for each image, which pushes it. */
export function buildJob(
  { cloneImage, buildctlImage, buildkitd }: RawCluster,
  work: { namespace: string; origin: string; branch: string; images: readonly RawImage[] },
): object {
  const { namespace, origin, branch, images } = work;
  const source = [{ name: 'source', mountPath: '/source' }];
  const { hostname, port } = new URL(origin);
  // curl resolves every *.localhost to its own machine; in the cluster such a name is another address.
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
          containers: images.map(({ name, folder, image }) => ({
            name,
            image: buildctlImage,
            command: ['buildctl'],
            args: [`--addr=${buildkitd}`, ...buildctlArguments(`/source/code/${folder}`, image)],
            env: [{ name: 'DOCKER_CONFIG', value: '/credentials' }],
            volumeMounts: [...source, { name: 'registry', mountPath: '/credentials' }],
          })),
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
