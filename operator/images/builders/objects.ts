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
import { withoutToken } from '../../shared/pod-parts.ts';
import type { BuilderCertificates } from './certificates.ts';
import type { BuilderIdentity } from './identity.ts';
import { platformLabels, scheduled, type Scheduling } from '../../shared/scheduling.ts';
import type { BuilderPoolSettings } from './settings.ts';

export const BUILDKITD_PORT = 1234;

/** The rest of the volume is for what one build adds before the next collection. */
const cacheShare = 0.75;

/**
 * A builder's certificates. All else of it is owned by this Secret: with it, everything goes, the cache as well.
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

/** The inverse of certificateSecret(); a part that somebody took away is empty. */
export function certificatesIn(secret: Secret): BuilderCertificates {
  const text = (key: string) => secretText(secret, key) ?? '';
  return {
    ca: text('ca.crt'),
    server: { certificate: text('tls.crt'), key: text('tls.key') },
    client: { certificate: text('client.crt'), key: text('client.key') },
  };
}

/** The metadata of what belongs to the Secret `owner`. A controller's pods may be drained from a node. */
function ownedBy(owner: Secret): ObjectMeta {
  const { name, namespace, labels, uid = '' } = owner.metadata;
  return {
    name,
    namespace,
    labels,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name, uid, controller: true }],
  };
}

/** Where a group's builder keeps its cache while it sleeps. */
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

/** Lets the build pods in that the builder is for; what it may reach itself is the chart's policy for all builders. */
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

/** Changes with all that a running builder was started with: another one means that it is out of date. */
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

/** On nodes of the platform that is built for, unless the administrator has them build for another one. */
function schedulingOf({ scheduling, platform }: BuilderPoolSettings): Scheduling {
  return scheduled(scheduling, { nodeSelector: platformLabels(platform) });
}

/** The limits that buildkitd keeps its cache in, for a volume of this size: `reserved,free,maximum` in MB. */
function keepStorage(storage: string): string {
  const maximum = Math.floor((quantityValue(storage) * cacheShare) / 1e6);
  return `${Math.min(1000, maximum)},0,${maximum}`;
}

export interface BuilderPodInput {
  identity: BuilderIdentity;
  owner: Secret;
  /** The size of the volume that the cache is on. */
  storage: string;
  settings: BuilderPoolSettings;
}

const root = '/home/user/.local/share/buildkit';
const configuration = '/etc/buildkit';
const tls = '/etc/buildkit-tls';

/** Rootless buildkitd. It has no token, and of the Secret it sees no more than a server needs. */
export function builderPod({ identity, owner, storage, settings }: BuilderPodInput): Pod {
  const metadata = ownedBy(owner);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, annotations: { [ANNOTATIONS.appliedHash]: builderRevision(owner, settings) } },
    spec: {
      ...withoutToken,
      ...schedulingOf(settings),
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: identity.isEphemeral ? 1 : 10,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        fsGroup: 1000,
        // A cache of many files would take minutes otherwise.
        fsGroupChangePolicy: 'OnRootMismatch',
        // Rootless BuildKit makes user namespaces, which the default profile forbids.
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
            // Every address of the pod, of whatever IP family.
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
            // The chart puts authorities of the installation's own beside buildkitd.toml; Go reads all PEM that is there.
            { name: 'SSL_CERT_DIR', value: `/etc/ssl/certs:${configuration}` },
            // Pulls and pushes; build steps are reported by buildctl.
            ...Object.entries(settings.proxy ?? {}).map(([name, value]) => ({ name, value })),
            // What build logs keep of a container is less (build-logs/writer.ts); by itself BuildKit clips at 2 MiB, and
            // at 200 KiB a second.
            { name: 'BUILDKIT_STEP_LOG_MAX_SIZE', value: String(16 * 1024 * 1024) },
            { name: 'BUILDKIT_STEP_LOG_MAX_SPEED', value: '-1' },
          ],
          ports: [{ name: 'buildkit', containerPort: BUILDKITD_PORT }],
          // It listens as soon as it can build.
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
