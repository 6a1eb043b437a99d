import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import type { Revision } from '../revision/revision.ts';
import type { Contribution } from './contribution.ts';

/** Status fields that describe an environment's contents. */
export type ContentsField =
  | 'commit'
  | 'repositories'
  | 'revision'
  | 'storedBytes'
  | 'deployed'
  | 'services'
  | 'aliases'
  | 'namespaceUID'
  | 'seed'
  | 'publication'
  | 'sleep';
export type ContentsCondition = 'Created' | 'Built' | 'Available' | 'Seeded' | 'Published' | 'Asleep';

/**
 * Returns whether the environment has a namespace according to its status; without services it is `empty` nevertheless.
 */
export function hasNamespace({ state = 'empty', namespaceUID }: Pick<EnvironmentStatus, 'state' | 'namespaceUID'>) {
  return state !== 'empty' || namespaceUID !== undefined;
}

/** Clears what the status records of the contents; the last build is kept. */
export function forgottenContents({
  publication,
}: Pick<EnvironmentStatus, 'publication'>): Contribution<ContentsField, ContentsCondition> {
  const gone = undefined;
  return {
    status: {
      ...{
        commit: gone,
        repositories: gone,
        revision: gone,
        storedBytes: gone,
        deployed: gone,
        services: gone,
        aliases: gone,
        namespaceUID: gone,
        seed: gone,
        sleep: gone,
      },
      ...(publication?.result === 'running' && { publication: { ...publication, result: 'failed' } }),
    },
    conditions: { Created: gone, Built: gone, Available: gone, Seeded: gone, Published: gone, Asleep: gone },
  };
}

/** Records that the namespace exists and is isolated. Contents of another namespace are lost and are built again. */
export function enteredNamespace(
  status: Readonly<EnvironmentStatus>,
  namespaceUID: string | undefined,
): Contribution<ContentsField | 'activation', ContentsCondition> {
  const { activation, deployed, namespaceUID: former } = status;
  const observed = { isPresent: true };
  if (former === undefined || former === namespaceUID) return { status: { namespaceUID }, observed };
  const lost = forgottenContents(status);
  const isRebuilt = activation !== undefined && deployed !== undefined;
  return {
    status: { ...lost.status, namespaceUID, ...(isRebuilt && { activation: { ...activation, buildPending: true } }) },
    conditions: lost.conditions ?? {},
    observed,
  };
}

/** Records the progress of the deletion of the contents. */
export function removedContents(
  status: Readonly<EnvironmentStatus>,
  isGone: boolean,
): Contribution<ContentsField, ContentsCondition> {
  return { ...(isGone && forgottenContents(status)), observed: { isPresent: !isGone } };
}

/** Records the revision that the services were set up from. */
export function setUpFrom(
  { webURL }: { webURL: string },
  { id: revision, commit, repositories, warnings, serviceFile }: Revision,
): Contribution<'webURL' | 'commit' | 'repositories' | 'revision', 'Created'> {
  const isPublic = serviceFile.publicRoutes.some(({ alias }) => alias === undefined);
  const reason = warnings.length > 0 ? 'SetUpWithWarnings' : 'SetUp';
  const message = ['the services are set up', ...warnings].join('; ');
  return {
    status: { webURL: isPublic ? webURL : undefined, commit, repositories, revision },
    conditions: { Created: { status: 'True', reason, message } },
  };
}
