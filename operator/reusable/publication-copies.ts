import type { BuildStatus } from '../../crds/environment.ts';
import { LABELS } from '../../crds/labels.ts';
import type { ReusableEnvironment, ReusableEnvironmentStatus } from '../../crds/reusable-environment.ts';
import type { PersistentVolumeClaim } from '../../kubernetes/resource-type.ts';
import type { EnvironmentScope } from '../environment/scope.ts';
import type { Version } from '../environment/version.ts';
import { groupLabels } from '../group/objects.ts';
import { claimName, volumesOf } from '../workloads/volumes.ts';
import { copyId, copyName, REUSABLE_ANNOTATIONS } from './names.ts';
import { publicationId } from './publication.ts';
import type { VolumeCopy } from './volume-copy.ts';

/** One build of an environment on its way to be what a label stands for. */
export interface Publication {
  scope: EnvironmentScope;
  version: Version;
  label: string;
  build: BuildStatus;
}

export interface PublishedVolume {
  volume: string;
  copy: VolumeCopy;
}

/** A copy of each volume that is there, into the group's store. */
export function publishedVolumes(
  publication: Publication,
  store: string,
  { metadata: { name, uid = '' } }: ReusableEnvironment,
  claimOf: (name: string) => PersistentVolumeClaim | undefined,
): PublishedVolume[] {
  const { scope, version, build } = publication;
  const { environment, environmentUid, builtAt: at } = REUSABLE_ANNOTATIONS;
  return volumesOf(version).flatMap(({ name: volume }) => {
    const claim = claimOf(claimName(volume));
    if (!claim) return [];
    const reference = copyReference(publication, volume);
    const copy: VolumeCopy = {
      ...reference,
      target: {
        namespace: store,
        name: copyName(reference.id),
        labels: { ...groupLabels(scope.repository.group), [LABELS.reusable]: name, [LABELS.reusableUid]: uid },
        annotations: { [environment]: scope.key, [environmentUid]: scope.uid, [at]: builtAt(build) },
      },
      size: claim.status?.capacity?.['storage'] ?? claim.spec?.resources?.requests?.['storage'] ?? '1Gi',
      storageClass: claim.spec?.storageClassName,
      environmentKey: scope.key,
      environmentUid: scope.uid,
      labels: scope.labels,
    };
    return [{ volume, copy }];
  });
}

/** The copies that were begun, or may have been. */
export function begunCopies(publication: Publication): Pick<VolumeCopy, 'id' | 'source'>[] {
  return volumesOf(publication.version).map(({ name }) => copyReference(publication, name));
}

/** What the ReusableEnvironment's status says once every copy is in its place. */
export function publishedContent(publication: Publication, volumes: readonly PublishedVolume[]) {
  const { scope, build } = publication;
  return {
    from: {
      environment: scope.id.name,
      environmentUID: scope.uid,
      gitRef: scope.environment.spec.gitRef,
      commit: build.commit,
      build: build.number,
    },
    publication: idOf(publication),
    builtAt: builtAt(build),
    images: build.images ?? [],
    volumes: volumes.map(({ volume, copy }) => ({ name: volume, claim: copy.target.name, size: copy.size })),
  } satisfies ReusableEnvironmentStatus;
}

function copyReference(publication: Publication, volume: string): Pick<VolumeCopy, 'id' | 'source'> {
  const source = { namespace: publication.scope.namespace, name: claimName(volume) };
  return { id: copyId(idOf(publication), volume), source };
}

function idOf({ scope: { uid, status }, build }: Publication): string {
  return publicationId(uid, status.namespaceUID ?? '', build.number);
}

function builtAt({ finishedAt, startedAt }: BuildStatus): string {
  return finishedAt ?? startedAt;
}
