import type { Problems } from './problems.ts';
import { nearest } from './read/nearest.ts';
import type { Variable, VariableLookup } from './variables.ts';

const prefix = 'COPPICE_';

/** Returns whether only Coppice sets variables of this name. */
export function isReservedName(name: string): boolean {
  return name.startsWith(prefix);
}

export const RESERVED_NAME = `names that start with ${prefix} are for the variables that Coppice sets`;

/** An address below which services answer. */
export interface WebAddress {
  /** Without a slash at the end. */
  url: string;
  /** Without a port. */
  host: string;
}

/** What stays the same for all commits of an environment. */
export interface EnvironmentFacts {
  /** IDs as in the REST API: `acme.shop-main`, `acme.shop`. */
  environment: string;
  group: string;
  repository: string;
  ref: { name: string; type: 'branch' | 'tag' | 'pull request' };
  web: WebAddress;
  aliasWeb: (alias: string) => WebAddress;
  /** Address of the registry of built images; empty if unknown. */
  registry: string;
}

/** What changes with each build. */
export interface BuildFacts {
  commit: string;
  build: number;
}

/** Returns the variables that every container has: a commit changes none of them, so it replaces no pod. */
export function containerVariables(facts: EnvironmentFacts): Record<string, string> {
  const { environment, group, repository, ref, web } = facts;
  const nameIf = (type: typeof ref.type) => (ref.type === type ? ref.name : '');
  return {
    COPPICE_ENVIRONMENT: environment,
    COPPICE_GROUP: group,
    COPPICE_REPOSITORY: repository,
    COPPICE_REF: ref.name,
    COPPICE_REF_TYPE: ref.type.replace(' ', '-'),
    COPPICE_BRANCH: nameIf('branch'),
    COPPICE_TAG: nameIf('tag'),
    COPPICE_PULL_REQUEST: nameIf('pull request'),
    COPPICE_WEB_URL: web.url,
    COPPICE_WEB_HOST: web.host,
  };
}

/** The variable whose value differs in each build, even of the same commit. */
const buildVariable = 'COPPICE_BUILD';
/** Names of refs are the only values that contain other characters than letters, digits and `.:/-`. */
const refVariables = new Set(['COPPICE_REF', 'COPPICE_BRANCH', 'COPPICE_TAG']);

/** Returns the variables that a container has only if the service file names them, without those of aliases. */
export function namedVariables({ registry, commit, build }: EnvironmentFacts & BuildFacts): Record<string, string> {
  return { COPPICE_COMMIT: commit, [buildVariable]: String(build), COPPICE_REGISTRY: registry };
}

/** Returns the variables of an alias. */
export function aliasVariables(facts: EnvironmentFacts, alias: string): Record<string, string> {
  const suffix = alias.toUpperCase().replaceAll('-', '_');
  const { url, host } = facts.aliasWeb(alias);
  return { [`COPPICE_WEB_URL_${suffix}`]: url, [`COPPICE_WEB_HOST_${suffix}`]: host };
}

/** Returns the alias in a variable's name. Aliases have no capitals and no `_`, so no two have the same variables. */
function aliasOf(name: string): string | undefined {
  const [, suffix] = /^COPPICE_WEB_(?:URL|HOST)_([A-Z](?:[A-Z0-9_]{0,38}[A-Z0-9])?)$/.exec(name) ?? [];
  return suffix?.toLowerCase().replaceAll('_', '-');
}

/**
 * The variables that Coppice sets for an environment (docs/reference/variables.md), which override all others. Remembers
 * which of them were used.
 */
export class OwnVariables implements VariableLookup {
  readonly #facts: EnvironmentFacts & BuildFacts;
  readonly #values: ReadonlyMap<string, string>;
  readonly #used = new Set<string>();

  constructor(facts: EnvironmentFacts & BuildFacts) {
    this.#facts = facts;
    this.#values = new Map(Object.entries({ ...containerVariables(facts), ...namedVariables(facts) }));
  }

  has(name: string): boolean {
    return this.#valueOf(name) !== undefined;
  }

  get(name: string): Variable | undefined {
    const value = this.#valueOf(name);
    if (value === undefined) return undefined;
    this.#used.add(name);
    return { value, visibility: 'always', ...(refVariables.has(name) && { fromRef: true }) };
  }

  /** Whether a value was used that differs in the next build of the same commit. */
  get usesBuild(): boolean {
    return this.#used.has(buildVariable);
  }

  /** Returns the used variables of aliases, with the alias. */
  usedAliases(): [name: string, alias: string][] {
    return [...this.#used].flatMap((name) => {
      const alias = aliasOf(name);
      return alias === undefined ? [] : [[name, alias] satisfies [string, string]];
    });
  }

  #valueOf(name: string): string | undefined {
    const known = this.#values.get(name);
    const alias = known === undefined ? aliasOf(name) : undefined;
    return alias === undefined ? known : aliasVariables(this.#facts, alias)[name];
  }
}

/** Facts for reading a service file apart from an environment. */
export const EXAMPLE_FACTS: EnvironmentFacts & BuildFacts = {
  environment: 'group.repository-main',
  group: 'group',
  repository: 'group.repository',
  ref: { name: 'main', type: 'branch' },
  web: { url: 'https://repository-main--group.example.com', host: 'repository-main--group.example.com' },
  aliasWeb: (alias) => {
    const host = `${alias}---repository-main--group.example.com`;
    return { url: `https://${host}`, host };
  },
  registry: 'registry.example.com',
  commit: '0'.repeat(40),
  build: 1,
};

const knownNames = Object.keys({ ...containerVariables(EXAMPLE_FACTS), ...namedVariables(EXAMPLE_FACTS) });
/** Names of which similar ones are looked for: those of which the beginning is right. */
const similarPrefix = /^COP/i;

/** Returns what to do about a variable that is not set. `otherwise`: advice for a name that is not like one of Coppice's. */
export function unsetAdvice(name: string, otherwise: string, problems: Pick<Problems, 'errorCount'>): string {
  if (!similarPrefix.test(name)) return otherwise;
  const meant = nearest(
    name,
    knownNames.map((known) => known.toLowerCase()),
    problems,
  );
  if (meant !== undefined) return `did you mean ${meant.toUpperCase()}?`;
  return isReservedName(name)
    ? 'Coppice sets no variable of this name, and nobody else can: use another name'
    : otherwise;
}
