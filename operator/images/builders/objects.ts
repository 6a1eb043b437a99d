import { ANNOTATIONS, LABELS } from '../../../crds/labels.ts';
import { quantityValue } from '../../../kubernetes/quantity.ts';
import { hashOf } from '../../../kubernetes/apply.ts';
import type {
  NetworkPolicy,
  ObjectMeta,
  PersistentVolumeClaim,
  Pod,
  Secret,
} from '../../../kubernetes/resource-type.ts';
import { encodeTexts, secretText } from '../../../kubernetes/secret-texts.ts';
import { WITHOUT_TOKEN } from '../../shared/pod-parts.ts';
import type { BuilderCertificates } from './certificates.ts';
import type { BuilderIdentity } from './identity.ts';
import { LEAVES_SOON, platformLabels, scheduled, type Scheduling } from '../../shared/scheduling.ts';
import type { BuilderPoolSettings } from './settings.ts';

export const BUILDKITD_PORT = 1234;

/** Share of the volume for the cache; the rest is for data that one build adds before the next garbage collection. */
const cacheShare = 0.75;

/**
 * Returns the Secret with a builder's certificates. It owns the builder's other objects, so that deleting it deletes
 * them, including the cache.
 */
export function certificateSecret(
  { name, labels }: BuilderIdentity,
  namespace: string,
  { ca, server, client }: BuilderCertificates,
): Secret {
  const texts = {
    'ca.crt': ca,
    'tls.crt': server.certificate,
    'tls.key': server.key,
    'client.crt': client.certificate,
    'client.key': client.key,
  };
  const data = encodeTexts(texts);
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels }, type: 'Opaque', data };
}

/** Reads the certificates from the Secret; missing ones are empty. */
export function certificatesIn(secret: Secret): BuilderCertificates {
  const text = (key: string) => secretText(secret, key) ?? '';
  return {
    ca: text('ca.crt'),
    server: { certificate: text('tls.crt'), key: text('tls.key') },
    client: { certificate: text('client.crt'), key: text('client.key') },
  };
}

/**
 * Returns the metadata of objects that the Secret `owner` owns. Pods that have a controller can be drained from a node.
 */
function ownedBy(owner: Secret): ObjectMeta {
  const { name, namespace, labels, uid = '' } = owner.metadata;
  return {
    name,
    namespace,
    labels,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name, uid, controller: true }],
  };
}

/** Returns the volume for the cache of a group's builder, which is kept while the builder is scaled to zero. */
export function cacheVolume(owner: Secret, { cache }: BuilderPoolSettings): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: ownedBy(owner),
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: cache.size } },
      ...(cache.storageClass !== undefined && { storageClassName: cache.storageClass }),
    },
  };
}

/**
 * Returns the policy that permits connections from the builder's build pods. The chart has a policy for connections
 * from all builders.
 */
export function builderPolicy({ clients }: BuilderIdentity, owner: Secret): NetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: ownedBy(owner),
    spec: {
      podSelector: { matchLabels: { [LABELS.builder]: owner.metadata.name } },
      policyTypes: ['Ingress'],
      ingress: [
        {
          from: [
            {
              namespaceSelector: { matchLabels: clients },
              podSelector: { matchExpressions: [{ key: LABELS.build, operator: 'Exists' }] },
            },
          ],
          ports: [{ protocol: 'TCP', port: BUILDKITD_PORT }],
        },
      ],
    },
  };
}

/**
 * Returns a hash of everything that a running builder was started with; a different hash means that it is out of date.
 */
export function builderRevision(owner: Secret, settings: BuilderPoolSettings): string {
  const { image, configMap, proxy, resources } = settings;
  return hashOf({
    image,
    configMap,
    proxy,
    resources,
    scheduling: schedulingOf(settings),
    certificate: owner.data?.['tls.crt'],
  });
}

/** Schedules builders on nodes of the platform that they build for, unless the administrator configured others. */
function schedulingOf({ scheduling, platform }: BuilderPoolSettings): Scheduling {
  return scheduled(scheduling, { nodeSelector: platformLabels(platform), tolerations: LEAVES_SOON });
}

/** Returns buildkitd's limits for a cache on a volume of this size: `reserved,free,maximum` in MB. */
function keepStorage(storage: string): string {
  const maximum = Math.floor((quantityValue(storage) * cacheShare) / 1e6);
  return `${Math.min(1000, maximum)},0,${maximum}`;
}

export interface BuilderPodInput {
  identity: BuilderIdentity;
  owner: Secret;
  /** Size of the volume with the cache. */
  storage: string;
  settings: BuilderPoolSettings;
}

const root = '/home/user/.local/share/buildkit';
const configuration = '/etc/buildkit';
const tls = '/etc/buildkit-tls';

/** Returns the pod of a rootless buildkitd. It has no API token, and mounts only the server's part of the Secret. */
export function builderPod({ identity, owner, storage, settings }: BuilderPodInput): Pod {
  const metadata = ownedBy(owner);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, annotations: { [ANNOTATIONS.appliedHash]: builderRevision(owner, settings) } },
    spec: {
      ...WITHOUT_TOKEN,
      ...schedulingOf(settings),
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: identity.isEphemeral ? 1 : 10,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        fsGroup: 1000,
        // Changing the group of each file in a large cache would take minutes.
        fsGroupChangePolicy: 'OnRootMismatch',
        // Rootless BuildKit creates user namespaces, which the default profile does not permit.
        seccompProfile: { type: 'Unconfined' },
      },
      containers: [
        {
          name: 'buildkitd',
          image: settings.image,
          command: [
            'rootlesskit',
            '--net=host',
            '--copy-up=/run',
            'buildkitd',
            `--config=${configuration}/${identity.isEphemeral ? 'buildkitd-untrusted.toml' : 'buildkitd.toml'}`,
            `--root=${root}`,
            // Listens on every address of the pod, IPv4 and IPv6.
            `--addr=tcp://:${BUILDKITD_PORT}`,
            `--tlscacert=${tls}/ca.crt`,
            `--tlscert=${tls}/tls.crt`,
            `--tlskey=${tls}/tls.key`,
            '--oci-worker-gc',
            `--oci-worker-gc-keepstorage=${keepStorage(storage)}`,
          ],
          env: [
            { name: 'XDG_RUNTIME_DIR', value: '/tmp' },
            { name: 'HOME', value: '/home/user' },
            { name: 'USER', value: 'user' },
            // The chart stores additional certificate authorities next to buildkitd.toml; Go reads all PEM files in the
            // directory.
            { name: 'SSL_CERT_DIR', value: `/etc/ssl/certs:${configuration}` },
            // For pulls and pushes; build steps get the proxy from buildctl.
            ...Object.entries(settings.proxy ?? {}).map(([name, value]) => ({ name, value })),
            // Build logs store less of each container (build-logs/writer.ts). BuildKit's own limits are 2 MiB, and 200
            // KiB per second.
            { name: 'BUILDKIT_STEP_LOG_MAX_SIZE', value: String(16 * 1024 * 1024) },
            { name: 'BUILDKIT_STEP_LOG_MAX_SPEED', value: '-1' },
          ],
          ports: [{ name: 'buildkit', containerPort: BUILDKITD_PORT }],
          // buildkitd listens as soon as it can build.
          readinessProbe: { tcpSocket: { port: BUILDKITD_PORT }, periodSeconds: 1, failureThreshold: 5 },
          resources: settings.resources,
          terminationMessagePolicy: 'FallbackToLogsOnError',
          volumeMounts: [
            { name: 'configuration', mountPath: configuration, readOnly: true },
            { name: 'tls', mountPath: tls, readOnly: true },
            { name: 'cache', mountPath: root },
            { name: 'tmp', mountPath: '/tmp' },
          ],
        },
      ],
      volumes: [
        { name: 'configuration', configMap: { name: settings.configMap } },
        {
          name: 'tls',
          secret: {
            secretName: metadata.name,
            defaultMode: 0o440,
            items: ['ca.crt', 'tls.crt', 'tls.key'].map((key) => ({ key, path: key })),
          },
        },
        {
          name: 'cache',
          ...(identity.isEphemeral
            ? { emptyDir: { sizeLimit: storage } }
            : { persistentVolumeClaim: { claimName: metadata.name } }),
        },
        { name: 'tmp', emptyDir: { sizeLimit: '1Gi' } },
      ],
    },
  };
}
