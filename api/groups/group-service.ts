import { GROUP_VERSION } from '../../crds/api-group.ts';
import { findCondition } from '../../crds/conditions.ts';
import { GROUP, type Group } from '../../crds/group.ts';
import { ANNOTATIONS, LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { slug } from '../../crds/names.ts';
import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import type { RandomBytes } from '../auth/tokens.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { randomSuffix } from '../cluster/random-suffix.ts';
import { awaitVerdict } from '../cluster/verdict.ts';
import { Conflict, Unavailable } from '../http/errors.ts';
import type { User } from '../users/user-record.ts';

/** The CRD's limit. */
const longestName = 50;
const readyTimeoutMs = 10_000;
const nameTries = 5;

export interface GroupDependencies {
  cluster: Pick<ClusterWriter, 'create' | 'delete'>;
  cache: Caches['groups'];
  randomBytes: RandomBytes;
}

/** The resource name that a group's name gives; empty when the name holds no letter and no digit. */
export function groupResourceName(name: string): string {
  return slug(name).slice(0, longestName).replace(/-+$/, '');
}

/** Creates groups, with the user who asked as their first member. */
export class GroupService {
  readonly #dependencies: GroupDependencies;

  constructor(dependencies: GroupDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Creates a group and waits until the operator has made its namespace, 10 s at most.
   * @throws Conflict when the name is taken, or the operator cannot set the group up.
   */
  async create(owner: User, name: string, displayName: string): Promise<Group> {
    const { cluster, cache } = this.#dependencies;
    const written = await this.#write(owner, name, displayName).catch((error: unknown) => {
      if (isAlreadyExists(error)) throw new Conflict('a group of this name exists already', { cause: error });
      throw error;
    });
    const { object, stalled } = await awaitVerdict(cache, written, readyTimeoutMs);
    if (stalled === undefined) return object;
    await cluster.delete(GROUP, { name }, { uid: object.metadata.uid });
    throw new Conflict(`the group cannot be set up: ${stalled}`);
  }

  /** The group that a new account starts with, named after its e-mail address; does not wait. */
  async createOwn(owner: User): Promise<Group> {
    const { randomBytes } = this.#dependencies;
    const name = groupResourceName(owner.email.split('@')[0] ?? '') || 'group';
    const stem = name.slice(0, longestName - 6).replace(/-+$/, '');
    for (let tries = 1; ; tries++) {
      const candidate = tries === 1 ? name : `${stem}-${randomSuffix(randomBytes)}`;
      try {
        return await this.#write(owner, candidate, candidate);
      } catch (error) {
        if (!isAlreadyExists(error) || tries === nameTries) throw error;
      }
    }
  }

  /** Starts the deletion of a group, and of everything in it. */
  async remove({ metadata: { name, uid } }: Group): Promise<void> {
    await this.#dependencies.cluster.delete(GROUP, { name }, { uid });
  }

  /** @throws Unavailable while the group has no namespace to put anything into. */
  async awaitNamespace(group: Group): Promise<void> {
    // Whatever was changed since: the namespace stays.
    if (findCondition(group.status?.conditions, 'Ready')?.status === 'True') return;
    const { isReady, stalled } = await awaitVerdict(this.#dependencies.cache, group, readyTimeoutMs);
    if (stalled !== undefined) throw new Conflict(`the group cannot be used: ${stalled}`);
    if (!isReady) throw new Unavailable('the group is being set up; try again soon');
  }

  async #write(owner: User, name: string, displayName: string): Promise<Group> {
    const { cluster, cache } = this.#dependencies;
    const group: Group = {
      apiVersion: GROUP_VERSION,
      kind: GROUP.kind,
      metadata: {
        name,
        labels: { [LABELS.managedBy]: MANAGED_BY },
        annotations: { [ANNOTATIONS.createdBy]: owner.accountId },
      },
      spec: { members: [owner.email], owners: [owner.email], ...(displayName !== name && { displayName }) },
    };
    const written = await cluster.create(GROUP, group);
    cache.observe(written);
    return written;
  }
}
