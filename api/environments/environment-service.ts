import { inheritedAccess } from '../../crds/access.ts';
import { GROUP_VERSION } from '../../crds/api-group.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { gitRefKey, type GitRef } from '../../crds/git-ref.ts';
import { ANNOTATIONS, FINALIZER, LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { environmentName } from '../../crds/environment-name.ts';
import type { Repository } from '../../crds/repository.ts';
import {
  APPROVE_REQUEST,
  approveRequestValue,
  nextRequestTime,
  requestAnnotation,
  requestValue,
  TEST_REQUEST,
  ttlRequestValue,
  type RequestName,
} from '../../crds/requests.ts';
import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { isBeingDeleted } from '../cluster/deletion.ts';
import { randomSuffix } from '../cluster/random-suffix.ts';
import { Conflict } from '../shared/errors.ts';
import { currentRequestId } from '../shared/request-context.ts';
import { readStartsBuild, stateOf, wantsContents } from './contents.ts';
import type { Spawn } from './environment-parameters.ts';

const nameTries = 5;

export interface EnvironmentServiceOptions {
  cluster: Pick<ClusterWriter, 'create' | 'find' | 'patch'>;
  cache: Pick<Caches['environments'], 'observe'>;
  now: () => number;
  randomBytes: RandomBytes;
}

/** Writes Environments: the spec is the desired state; one-off requests are annotations (crds/requests.ts). */
export class EnvironmentService {
  readonly #options: EnvironmentServiceOptions;

  constructor(options: EnvironmentServiceOptions) {
    this.#options = options;
  }

  /**
   * Creates an environment of a ref, even if the ref has others. With `ifExists: reuse`, returns one that another
   * request created concurrently as `existing`.
   * @param environments those of the repository; the strictest access of the ref's applies to the new one
   */
  async spawn(
    repository: Repository,
    { name, build, ttl, gitRef, ifExists }: Spawn,
    environments: readonly Environment[],
  ): Promise<{ spawned: Environment } | { existing: Environment }> {
    const { cluster, cache, now, randomBytes } = this.#options;
    const { namespace, name: repositoryName } = repository.metadata;
    const plain = environmentName(repositoryName, gitRef);
    const ofRef = environments.filter((one) => isOf(one, repositoryName, gitRef));
    const access = inheritedAccess(ofRef, repository.spec);
    const id = currentRequestId();
    // The build is requested like any other, so that callers can wait for it.
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
          // The operator would add it, with a request for each environment.
          finalizers: [FINALIZER],
        },
        spec: {
          ...(name !== undefined && { displayName: name }),
          repository: repositoryName,
          gitRef,
          active: true,
          buildOnCreate: build,
          ...(ttl !== undefined && { ttlSeconds: ttl }),
          ...access,
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

  /** Returns the environment for `ifExists: reuse`: the oldest of its ref. */
  reusable(environments: readonly Environment[], { gitRef }: Pick<Spawn, 'gitRef'>): Environment | undefined {
    const age = ({ metadata: { creationTimestamp = '', name } }: Environment) => `${creationTimestamp} ${name}`;
    return environments
      .filter((one) => isOf(one, one.spec.repository, gitRef))
      .sort((one, other) => (age(one) < age(other) ? -1 : 1))[0];
  }

  /** Brings an existing environment to the state of a new one: with contents, and built if requested. */
  async reuse(environment: Environment, { build, ttl }: Pick<Spawn, 'build' | 'ttl'>): Promise<Environment> {
    const names: RequestName[] = wantsContents(environment) ? [] : ['create'];
    if (build) names.push('build');
    return names.length === 0 && ttl === undefined ? environment : this.#request(environment, names, ttl);
  }

  /** Requests contents, as PUT does. @throws Conflict when the environment has contents. */
  createContents(environment: Environment, { build, ttl }: { build: boolean; ttl?: number | undefined }) {
    const state = stateOf(environment);
    if (state !== 'empty' && !wantsContents(environment))
      throw new Conflict('the contents are being deleted. Send PUT once the environment is empty');
    if (state !== 'empty')
      throw new Conflict(
        `the environment is ${state}: PUT needs an empty one. Use POST …/build, or POST …/rebuild to delete and create the contents`,
      );
    return this.#request(environment, build ? ['create', 'build'] : ['create'], ttl);
  }

  /** The operator decides, by other environments of the ref, whether the object is deleted too. */
  async deleteContents(environment: Environment): Promise<Environment> {
    return isBeingDeleted(environment) ? environment : this.#request(environment, ['delete']);
  }

  /** Requests a build. @throws Conflict when the environment has no contents and none are requested */
  build(environment: Environment) {
    if (!wantsContents(environment)) {
      throw new Conflict('the environment is empty, or its contents are being removed. PUT creates them');
    }
    return this.#request(environment, ['build']);
  }

  /** Requests a rebuild: the contents including volumes are deleted, created again, and built without cache. */
  rebuild(environment: Environment) {
    return this.#request(environment, ['rebuild']);
  }

  /** Runs the tests again. @throws Conflict when nothing is deployed, or there are no tests. */
  test(environment: Environment) {
    const { deployed } = environment.status ?? {};
    if (!deployed)
      throw new Conflict(
        'no build of the environment is deployed, so there is nothing to test. POST …/build builds it',
      );
    if (deployed.tests === undefined)
      throw new Conflict('the service file names no tests. Add them to x-coppice.tests, then request a build');
    return this.#request(environment, [TEST_REQUEST]);
  }

  /** Sets the time to live in seconds, counted from now; 0 means unlimited. @throws Conflict without contents. */
  setTtl(environment: Environment, seconds: number) {
    if (!wantsContents(environment))
      throw new Conflict('the environment is empty. PUT creates its contents and accepts a ttl');
    return this.#request(environment, [], seconds);
  }

  /**
   * Approves a commit of a fork, as this person.
   * @throws Conflict unless exactly this commit waits: another one was pushed since, which nobody has reviewed
   */
  async approve(environment: Environment, { commit, who }: { commit: string; who: string }): Promise<Environment> {
    const waiting = environment.status?.approval?.waitingCommit;
    if (waiting === undefined) throw new Conflict('no commit of the environment waits for an approval');
    if (waiting !== commit)
      throw new Conflict(`the commit that waits is ${waiting}, not ${commit}. Review it, then approve it`);
    const { cluster, cache, now } = this.#options;
    const { namespace, name, uid, annotations } = environment.metadata;
    const at = nextRequestTime(new Date(now()), annotations);
    const value = approveRequestValue(at, currentRequestId(), { commit, who });
    // The UID makes the API server refuse the patch for another object of the same name.
    const patch = { metadata: { uid, annotations: { [requestAnnotation(APPROVE_REQUEST)]: value } } };
    const written = await cluster.patch<Environment>(ENVIRONMENT, { namespace, name }, patch);
    cache.observe(written);
    return written;
  }

  /** Requests that the services stop, or start. @throws Conflict unless a build is deployed */
  async setAsleep(environment: Environment, isAsleep: boolean): Promise<Environment> {
    if (!environment.status?.deployed || !wantsContents(environment)) {
      throw new Conflict('no build of the environment is deployed, so nothing runs in it. POST …/build builds it');
    }
    return this.#request(environment, [isAsleep ? 'sleep' : 'wake']);
  }

  /** Requests a build when a created environment is first read. */
  async buildOnRead(environment: Environment): Promise<Environment> {
    return readStartsBuild(environment) && !isBeingDeleted(environment)
      ? this.#request(environment, ['build'])
      : environment;
  }

  async #request(
    environment: Environment,
    names: (RequestName | typeof TEST_REQUEST)[],
    ttl?: number,
  ): Promise<Environment> {
    if (isBeingDeleted(environment))
      throw new Conflict('the environment is being deleted. Wait until it is gone, then spawn it again');
    const { cluster, cache, now } = this.#options;
    const { namespace, name, uid, annotations } = environment.metadata;
    const at = nextRequestTime(new Date(now()), annotations);
    const id = currentRequestId();
    const values = names.map((request) => [requestAnnotation(request), requestValue(at, id)]);
    if (ttl !== undefined) values.push([requestAnnotation('ttl'), ttlRequestValue(at, id, ttl)]);
    // The UID makes the API server refuse the patch for another object of the same name.
    const patch = { metadata: { uid, annotations: Object.fromEntries(values) as Record<string, string> } };
    const written = await cluster.patch<Environment>(ENVIRONMENT, { namespace, name }, patch);
    cache.observe(written);
    return written;
  }
}

/** Returns whether the environment is of this ref and is not being deleted. */
function isOf(environment: Environment, repository: string, gitRef: GitRef): boolean {
  const { spec } = environment;
  return !isBeingDeleted(environment) && spec.repository === repository && gitRefKey(spec.gitRef) === gitRefKey(gitRef);
}
