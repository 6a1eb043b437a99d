import { ENVIRONMENT, type Environment } from '../../../crds/environment.ts';
import { GROUP, type Group } from '../../../crds/group.ts';
import { groupNamespace } from '../../../crds/ids.ts';
import { ANNOTATIONS, LABELS } from '../../../crds/labels.ts';
import { environmentNamespace } from '../../../crds/environment-address.ts';
import type {
  Job,
  KubernetesObject,
  Namespace,
  ObjectName,
  ResourceType,
  Secret,
} from '../../../kubernetes/resource-type.ts';
import { environmentKeyOf } from '../../shared/environment-keys.ts';

export const ORPHAN_KINDS = ['Namespace', 'Job', 'Builder'] as const;
export type OrphanKind = (typeof ORPHAN_KINDS)[number];

/** An object with Coppice's labels whose owner no longer exists. */
export interface Orphan {
  kind: OrphanKind;
  object: Pick<KubernetesObject, 'metadata'>;
  /** The object's owner, by type and name. */
  owner: { type: ResourceType; at: ObjectName };
  /** Why the object is kept although its owner no longer exists; undefined if Coppice can delete it. */
  keptBecause?: string | undefined;
}

/** The objects to check: namespaces and Jobs with Coppice's labels, and the Secrets of builders. */
export interface Observed {
  environments: readonly Environment[];
  groups: readonly Group[];
  namespaces: readonly Namespace[];
  jobs: readonly Job[];
  builderSecrets: readonly Secret[];
}

/** Finds orphans. Objects in an orphaned namespace are not listed, because they are deleted with it. */
export function findOrphans(observed: Observed): Orphan[] {
  const uids = new Set(observed.environments.map(({ metadata }) => metadata.uid));
  const names = new Set(observed.environments.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`));
  const groups = new Set(observed.groups.map(({ metadata }) => metadata.name));
  /** Returns undefined for objects of no Environment, or of an existing one. */
  const ofGoneEnvironment = (kind: OrphanKind, { metadata }: KubernetesObject): Orphan | undefined => {
    const uid = metadata.labels?.[LABELS.environmentUid];
    const at = environmentOf(metadata);
    if (uid === undefined || !at || uids.has(uid)) return undefined;
    const isTaken = names.has(`${at.namespace}/${at.name}`);
    return { kind, object: { metadata }, owner: { type: ENVIRONMENT, at }, ...(isTaken && { keptBecause: sameName }) };
  };
  const namespaces = observed.namespaces.flatMap((namespace) => {
    const orphan = ofGoneEnvironment('Namespace', namespace);
    if (orphan) return [{ ...orphan, keptBecause: orphan.keptBecause ?? notOurs(namespace) }];
    return ofGoneGroup(namespace, groups);
  });
  const counted = new Set(namespaces.map(({ object }) => object.metadata.name));
  const jobs = observed.jobs.filter(({ metadata }) => !counted.has(metadata.namespace ?? ''));
  return [
    ...namespaces,
    ...jobs.flatMap((job) => ofGoneEnvironment('Job', job) ?? []),
    ...observed.builderSecrets.flatMap((secret) => builder(secret, groups, ofGoneEnvironment)),
  ];
}

const sameName = 'an Environment of that name exists, perhaps restored with another UID. Delete it manually';

/**
 * Returns why a namespace may not be Coppice's. An environment's namespace has its owner in labels and an annotation,
 * and its name follows from them.
 */
function notOurs({ metadata: { name, labels = {}, annotations = {} } }: Namespace): string | undefined {
  const { [LABELS.group]: group = '', [LABELS.environment]: environment = '' } = labels;
  const isOurs =
    annotations[ANNOTATIONS.ownerUid] === labels[LABELS.environmentUid] &&
    name === environmentNamespace({ group, name: environment });
  return isOurs ? undefined : 'it was modified since Coppice created it';
}

/** Returns a group's namespace that Coppice created; it is kept, because it may contain objects of users. */
function ofGoneGroup({ metadata }: Namespace, groups: ReadonlySet<string>): Orphan[] {
  const group = metadata.labels?.[LABELS.group];
  const isMade = metadata.annotations?.[ANNOTATIONS.ownerUid] !== undefined;
  if (group === undefined || !isMade || metadata.name !== groupNamespace(group) || groups.has(group)) return [];
  const keptBecause = 'it may contain objects of others. Delete it manually';
  return [{ kind: 'Namespace', object: { metadata }, owner: { type: GROUP, at: { name: group } }, keptBecause }];
}

/** Returns an orphaned builder. Only Coppice has objects in the builders' namespace. */
function builder(
  secret: Secret,
  groups: ReadonlySet<string>,
  ofGoneEnvironment: (kind: OrphanKind, object: KubernetesObject) => Orphan | undefined,
): Orphan[] {
  const { metadata } = secret;
  const group = metadata.labels?.[LABELS.group];
  if (metadata.labels?.[LABELS.builder] !== metadata.name || group === undefined) return [];
  if (metadata.labels[LABELS.environmentUid] !== undefined) return [ofGoneEnvironment('Builder', secret) ?? []].flat();
  if (groups.has(group)) return [];
  return [{ kind: 'Builder', object: { metadata }, owner: { type: GROUP, at: { name: group } } }];
}

function environmentOf(metadata: KubernetesObject['metadata']): ObjectName | undefined {
  const key = environmentKeyOf({ apiVersion: '', kind: '', metadata });
  const [namespace, name] = key?.split('/') ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}
