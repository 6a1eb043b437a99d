import type { BuildStatus } from '../../../../crds/environment-build.ts';
import { LABELS } from '../../../../crds/labels.ts';
import type { ReusableEnvironment, ReusableEnvironmentStatus } from '../../../../crds/reusable-environment.ts';
import type { PersistentVolumeClaim } from '../../../../kubernetes/resource-type.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import type { Revision } from '../revision/revision.ts';
import { groupLabels } from '../../group/objects.ts';
import { claimName, volumesOf } from '../../../services/objects/volumes.ts';
import { copyId, copyName, REUSABLE_ANNOTATIONS } from '../../reusable/names.ts';
import { publicationId } from '../../reusable/publication.ts';
import type { VolumeCopy } from '../../reusable/volume-copy.ts';

/** One build of an environment that is being published under a label. */
export interface Publication {
  scope: EnvironmentScope;
  revision: Revision;
  label: string;
  build: BuildStatus;
}

export interface PublishedVolume {
  volume: string;
  copy: VolumeCopy;
}

/** Returns a copy for each existing volume into the group's store. */
export function publishedVolumes(
  publication: Publication,
  store: string,
  { metadata: { name, uid = '' } }: ReusableEnvironment,
  claimOf: (name: string) => PersistentVolumeClaim | undefined,
): PublishedVolume[] {
  const { scope, revision, build } = publication;
  const { environment, environmentUid, builtAt: at } = REUSABLE_ANNOTATIONS;
  return volumesOf(revision).flatMap(({ name: volume }) => {
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

/** Returns the copies that were started, or may have been. */
export function startedCopies(publication: Publication): Pick<VolumeCopy, 'id' | 'source'>[] {
  return volumesOf(publication.revision).map(({ name }) => copyReference(publication, name));
}

/** Returns the ReusableEnvironment's status once every copy is complete. */
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
