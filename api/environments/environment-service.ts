import { GROUP_VERSION } from '../../crds/api-group.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { gitRefKey, type GitRef } from '../../crds/git-ref.ts';
import { ANNOTATIONS, LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { environmentName } from '../../crds/names.ts';
import type { Repository } from '../../crds/repository.ts';
import {
  nextRequestTime,
  requestAnnotation,
  requestValue,
  TEST_REQUEST,
  ttlRequestValue,
  type RequestName,
} from '../../crds/requests.ts';
import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import type { RandomBytes } from '../auth/tokens.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { randomSuffix } from '../cluster/random-suffix.ts';
import { Conflict } from '../http/errors.ts';
import { currentRequestId } from '../http/request-context.ts';
import { readStartsBuild, stateOf, wantsContents } from './contents.ts';
import type { Spawn } from './environment-parameters.ts';

const nameTries = 5;

export interface EnvironmentDependencies {
  cluster: Pick<ClusterWriter, 'create' | 'find' | 'patch'>;
  cache: Caches['environments'];
  now: () => number;
  randomBytes: RandomBytes;
}

/** Writes Environments: spec is what is wanted; what is asked for once is an annotation (crds/requests.ts). */
export class EnvironmentService {
  readonly #dependencies: EnvironmentDependencies;

  constructor(dependencies: EnvironmentDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * A new environment of a ref; where others hold the ref, beside them. With `ifExists: reuse` one that another request
   * spawned at the same moment is given instead, as `existing`.
   */
  async spawn(
    repository: Repository,
    { name, build, ttl, gitRef, ifExists }: Spawn,
  ): Promise<{ spawned: Environment } | { existing: Environment }> {
    const { cluster, cache, now, randomBytes } = this.#dependencies;
    const { namespace, name: repositoryName } = repository.metadata;
    const plain = environmentName(repositoryName, gitRef);
    const id = currentRequestId();
    // The build that follows is requested as any other, so that it can be waited for as any other.
    const request = build ? { [requestAnnotation('build')]: requestValue(new Date(now()), id) } : {};
    for (let tries = 1; ; tries++) {
      const environment: Environment = {
        apiVersion: GROUP_VERSION,
        kind: ENVIRONMENT.kind,
        metadata: {
          namespace,
          name: tries === 1 ? plain : `${plain}-${randomSuffix(randomBytes)}`,
          labels: { [LABELS.managedBy]: MANAGED_BY },
          annotations: { [ANNOTATIONS.requestId]: id, ...request },
        },
        spec: {
          ...(name !== undefined && { displayName: name }),
          repository: repositoryName,
          gitRef,
          active: true,
          buildOnCreate: build,
          ...(ttl !== undefined && { ttlSeconds: ttl }),
        },
      };
      try {
        const written = await cluster.create(ENVIRONMENT, environment);
        cache.observe(written);
        return { spawned: written };
      } catch (error) {
        if (!isAlreadyExists(error) || tries === nameTries) throw error;
        if (ifExists !== 'reuse' || tries > 1) continue;
        const held = await cluster.find<Environment>(ENVIRONMENT, { namespace, name: plain });
        if (held && isOf(held, repositoryName, gitRef)) return { existing: held };
      }
    }
  }

  /** The environment that `ifExists: reuse` answers with: the oldest of its ref. */
  reusable(environments: readonly Environment[], { gitRef }: Pick<Spawn, 'gitRef'>): Environment | undefined {
    const age = ({ metadata: { creationTimestamp = '', name } }: Environment) => `${creationTimestamp} ${name}`;
    return environments
      .filter((one) => isOf(one, one.spec.repository, gitRef))
      .sort((one, other) => (age(one) < age(other) ? -1 : 1))[0];
  }

  /** Has an environment that is there already as a new one would be: with contents, and built if that is asked for. */
  async reuse(environment: Environment, { build, ttl }: Pick<Spawn, 'build' | 'ttl'>): Promise<Environment> {
    const names: RequestName[] = wantsContents(environment) ? [] : ['create'];
    if (build) names.push('build');
    return names.length === 0 && ttl === undefined ? environment : this.#request(environment, names, ttl);
  }

  /** Contract section 3, PUT. @throws Conflict when it has contents. */
  createContents(environment: Environment, { build, ttl }: { build: boolean; ttl?: number | undefined }) {
    const state = stateOf(environment);
    if (state !== 'empty' && !wantsContents(environment))
      throw new Conflict('the contents are being removed; PUT creates new ones once the environment is empty');
    if (state !== 'empty') throw new Conflict(`the environment is ${state}, not empty`);
    return this.#request(environment, build ? ['create', 'build'] : ['create'], ttl);
  }

  /** The operator decides, by who else holds the ref, whether the object goes too; one that goes already is as wanted. */
  async deleteContents(environment: Environment): Promise<Environment> {
    return isGoing(environment) ? environment : this.#request(environment, ['delete']);
  }

  /** @throws Conflict when there is nothing to build, and will not be. */
  build(environment: Environment) {
    if (!wantsContents(environment)) {
      throw new Conflict('the environment is empty, or its contents are being removed; PUT creates them');
    }
    return this.#request(environment, ['build']);
  }

  /** Contract section 4: what is there goes, volumes too; it comes again and is built without cache. */
  rebuild(environment: Environment) {
    return this.#request(environment, ['rebuild']);
  }

  /** What runs is tested again. @throws Conflict when nothing runs, or nothing is named. */
  test(environment: Environment) {
    const { deployed } = environment.status ?? {};
    if (!deployed) throw new Conflict('no build of the environment runs: there is nothing to test');
    if (deployed.tests === undefined) throw new Conflict('the service file names no tests (x-coppice.tests)');
    return this.#request(environment, [TEST_REQUEST]);
  }

  /** A new time to live in seconds, counted from now; 0 means none. @throws Conflict when there is nothing that lives. */
  setTtl(environment: Environment, seconds: number) {
    if (!wantsContents(environment))
      throw new Conflict('the environment is empty; PUT creates its contents, and takes a ttl');
    return this.#request(environment, [], seconds);
  }

  /** Whoever reads a created environment first has it built. */
  async buildOnRead(environment: Environment): Promise<Environment> {
    return readStartsBuild(environment) && !isGoing(environment) ? this.#request(environment, ['build']) : environment;
  }

  async #request(
    environment: Environment,
    names: (RequestName | typeof TEST_REQUEST)[],
    ttl?: number,
  ): Promise<Environment> {
    if (isGoing(environment)) throw new Conflict('the environment is being deleted');
    const { cluster, cache, now } = this.#dependencies;
    const { namespace, name, uid, annotations } = environment.metadata;
    const at = nextRequestTime(new Date(now()), annotations);
    const id = currentRequestId();
    const values = names.map((request) => [requestAnnotation(request), requestValue(at, id)]);
    if (ttl !== undefined) values.push([requestAnnotation('ttl'), ttlRequestValue(at, id, ttl)]);
    // The uid makes the API server refuse it for another object of the same name.
    const patch = { metadata: { uid, annotations: Object.fromEntries(values) as Record<string, string> } };
    const written = await cluster.patch<Environment>(ENVIRONMENT, { namespace, name }, patch);
    cache.observe(written);
    return written;
  }
}

/** Whether it is one of this ref, and stays. */
function isOf(environment: Environment, repository: string, gitRef: GitRef): boolean {
  const { spec } = environment;
  return !isGoing(environment) && spec.repository === repository && gitRefKey(spec.gitRef) === gitRefKey(gitRef);
}

/** With its repository or group, or because others hold its ref. */
function isGoing({ metadata }: Environment): boolean {
  return metadata.deletionTimestamp !== undefined;
}
