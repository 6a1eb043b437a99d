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

/** What carries Coppice's labels, and whose owner no longer exists. */
export interface Orphan {
  kind: OrphanKind;
  object: Pick<KubernetesObject, 'metadata'>;
  /** What it belonged to, and where that was. */
  owner: { type: ResourceType; at: ObjectName };
  /** Why it stays though its owner no longer exists, for people; undefined where it is Coppice's alone to take away. */
  keptBecause?: string | undefined;
}

/** All that there is; the namespaces and Jobs that Coppice labelled, and its builders' Secrets. */
export interface Observed {
  environments: readonly Environment[];
  groups: readonly Group[];
  namespaces: readonly Namespace[];
  jobs: readonly Job[];
  builderSecrets: readonly Secret[];
}

/** What a namespace holds counts with it, and goes with it. */
export function findOrphans(observed: Observed): Orphan[] {
  const uids = new Set(observed.environments.map(({ metadata }) => metadata.uid));
  const names = new Set(observed.environments.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`));
  const groups = new Set(observed.groups.map(({ metadata }) => metadata.name));
  /** Undefined for what belongs to no Environment, or to one that is there. */
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

/** An Environment's namespace says twice whose it is, and is called as that says. */
function notOurs({ metadata: { name, labels = {}, annotations = {} } }: Namespace): string | undefined {
  const { [LABELS.group]: group = '', [LABELS.environment]: environment = '' } = labels;
  const isOurs =
    annotations[ANNOTATIONS.ownerUid] === labels[LABELS.environmentUid] &&
    name === environmentNamespace({ group, name: environment });
  return isOurs ? undefined : 'it was modified since Coppice created it';
}

/** A group's namespace that Coppice made: it may hold what people put there, and stays. */
function ofGoneGroup({ metadata }: Namespace, groups: ReadonlySet<string>): Orphan[] {
  const group = metadata.labels?.[LABELS.group];
  const isMade = metadata.annotations?.[ANNOTATIONS.ownerUid] !== undefined;
  if (group === undefined || !isMade || metadata.name !== groupNamespace(group) || groups.has(group)) return [];
  const keptBecause = 'it may contain objects of others. Delete it manually';
  return [{ kind: 'Namespace', object: { metadata }, owner: { type: GROUP, at: { name: group } }, keptBecause }];
}

/** Nobody else has anything in the builders' namespace. */
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
