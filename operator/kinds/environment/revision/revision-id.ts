import { containerVariables, type EnvironmentFacts } from '../../../../service-file/own-variables.ts';
import type { ServiceFileSettings } from '../../../../service-file/parse.ts';
import type { Variables } from '../../../../service-file/variables.ts';
import { keyedHash } from '../../../shared/hash-key.ts';
import type { ResolvedRepository } from './included-repositories.ts';

export interface RevisionInput {
  commit: string;
  /** Whether the code is trusted; untrusted code is planned without variables. */
  trusted: boolean;
  variables: Variables;
  serviceFile: ServiceFileSettings;
  /** What the variables that Coppice sets are made of, except for the commit and the build. */
  facts: EnvironmentFacts;
  /** Platform of services that set none. */
  platform?: string | undefined;
}

/** Incremented when stored revisions must be planned again, because a newer Coppice would plan the same input differently. */
const scheme = 2;

/**
 * Returns an ID that is equal only for equal inputs, so that nothing is planned twice. Members see it in the status, so
 * it needs the hash key: variables can be secret.
 */
export function revisionId(
  hashKey: Uint8Array,
  { commit, trusted, variables, serviceFile, facts, platform }: RevisionInput,
): string {
  const pairs = pairsOf(variables);
  const fields = [
    scheme,
    commit,
    serviceFile.mode,
    serviceFile.content ?? null,
    pairs,
    ...(trusted ? [] : ['untrusted']),
    ...(platform === undefined ? [] : [`platform ${platform}`]),
    ...(serviceFile.overrides === undefined ? [] : [`overrides ${serviceFile.overrides}`]),
    { ...containerVariables(facts), registry: facts.registry },
  ];
  return keyedHash(hashKey, fields).slice(0, 40);
}

/**
 * Returns the IDs that a commit's revision can have: `plain` if it does not contain the number of the build, `numbered`
 * if it does.
 */
export function revisionIds(
  hashKey: Uint8Array,
  input: RevisionInput,
  { build, included }: { build: number; included: readonly ResolvedRepository[] },
): { plain: string; numbered: string } {
  const base = revisionId(hashKey, input);
  const plain = included.length === 0 ? base : idWithIncluded(hashKey, base, included);
  return { plain, numbered: numberedId(plain, build) };
}

/** Returns the ID of a revision with included repositories. `base`: that without them; which they are follows from it. */
function idWithIncluded(hashKey: Uint8Array, base: string, included: readonly ResolvedRepository[]): string {
  const parts = included.map(({ repository: { name }, branch, commit, configuration, variables }) => {
    const { repositoryUid, serviceFile } = configuration;
    return [
      ...[name, repositoryUid, branch, commit, pairsOf(variables)],
      ...[serviceFile.mode, serviceFile.content ?? null],
    ];
  });
  return keyedHash(hashKey, [scheme, base, parts]).slice(0, 40);
}

function pairsOf(variables: Variables): string[][] {
  const sorted = [...variables].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, { value, visibility, secret }]) => [
    name,
    value,
    visibility,
    ...(secret === true ? ['secret'] : []),
  ]);
}

/**
 * Returns the ID of a revision that contains the build's number: each build has its own. `id`: that of the same input
 * without the number.
 */
function numberedId(id: string, build: number): string {
  return `${id}-${build}`;
}
