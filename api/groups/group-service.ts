import { GROUP_VERSION } from '../../crds/api-group.ts';
import { findCondition } from '../../crds/conditions.ts';
import { GROUP, type Group } from '../../crds/group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { ANNOTATIONS, LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { slug } from '../../crds/names.ts';
import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import { type KubernetesObject, Namespace } from '../../kubernetes/resource-type.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { isBeingDeleted } from '../cluster/deletion.ts';
import { deleteOwn, requireOwn } from '../cluster/ownership.ts';
import { randomSuffix } from '../cluster/random-suffix.ts';
import { awaitReadiness } from '../cluster/readiness.ts';
import { Conflict, Unavailable } from '../shared/errors.ts';
import { GROUP_GOING } from '../shared/messages.ts';
import type { User } from '../user-records/user-record.ts';

/** The limit in the CRD. */
const maxName = 50;
const readyTimeoutMs = 10_000;
const nameTries = 5;

export interface GroupServiceOptions {
  cluster: Pick<ClusterWriter, 'find' | 'create' | 'delete'>;
  cache: Caches['groups'];
  randomBytes: RandomBytes;
}

class NameTaken extends Conflict {
  constructor(options?: ErrorOptions) {
    super('a group of this name already exists. Choose another name', options);
  }
}

/** Returns whether the operator would give the namespace to a group that did not create it. */
function isOffered(namespace: Namespace | undefined): boolean {
  const { annotations, deletionTimestamp } = namespace?.metadata ?? {};
  return (
    namespace !== undefined && deletionTimestamp === undefined && annotations?.[ANNOTATIONS.ownerUid] === undefined
  );
}

/** Returns the resource name for a group's name; empty if the name has no letter or digit. */
export function groupResourceName(name: string): string {
  return slug(name).slice(0, maxName).replace(/-+$/, '');
}

/** Creates groups, with the requesting user as their first member. */
export class GroupService {
  readonly #options: GroupServiceOptions;

  constructor(options: GroupServiceOptions) {
    this.#options = options;
  }

  /**
   * Creates a group and waits up to 10 s for its namespace.
   * @throws Conflict if the name is taken, or the operator cannot set up the group.
   */
  async create(owner: User, name: string, displayName: string): Promise<Group> {
    const { cluster, cache } = this.#options;
    const written = await this.#write(owner, name, displayName);
    const { object, stalled } = await awaitReadiness(cache, written, readyTimeoutMs);
    if (stalled === undefined) return object;
    await cluster.delete(GROUP, { name }, { uid: object.metadata.uid });
    throw new Conflict(`the group cannot be set up: ${stalled}`);
  }

  /** Creates the first group of a new account, named after its e-mail address; does not wait. */
  async createOwn(owner: User): Promise<Group> {
    const { randomBytes } = this.#options;
    const name = groupResourceName(owner.email.split('@')[0] ?? '') || 'group';
    const stem = name.slice(0, maxName - 6).replace(/-+$/, '');
    for (let tries = 1; ; tries++) {
      const candidate = tries === 1 ? name : `${stem}-${randomSuffix(randomBytes)}`;
      try {
        return await this.#write(owner, candidate, candidate);
      } catch (error) {
        if (!(error instanceof NameTaken) || tries === nameTries) throw error;
      }
    }
  }

  /**
   * Starts the deletion of a group and of everything in it.
   * @param contents the group's Repositories and Environments. @throws Conflict if any of them belongs to others.
   */
  async remove(group: Group, contents: readonly KubernetesObject[]): Promise<void> {
    for (const one of contents) requireOwn(one, group);
    await deleteOwn(this.#options.cluster, GROUP, group);
  }

  /** Waits until the group has a namespace. @throws Unavailable if it has none yet */
  async awaitNamespace(group: Group): Promise<void> {
    if (isBeingDeleted(group)) throw new Conflict(GROUP_GOING);
    // Later changes do not matter: the namespace stays.
    if (findCondition(group.status?.conditions, 'Ready')?.status === 'True') return;
    const { isReady, stalled } = await awaitReadiness(this.#options.cache, group, readyTimeoutMs);
    if (stalled !== undefined) throw new Conflict(`the group cannot be used: ${stalled}`);
    if (!isReady) throw new Unavailable('the group is being set up. Try again in a few seconds');
  }

  /** Creates the Group. @throws NameTaken */
  async #write(owner: User, name: string, displayName: string): Promise<Group> {
    const { cluster, cache } = this.#options;
    // An administrator can have prepared the namespace, with credentials in it, for somebody else.
    if (isOffered(await cluster.find(Namespace, { name: groupNamespace(name) }))) throw new NameTaken();
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
    const written = await cluster.create(GROUP, group).catch((error: unknown) => {
      throw isAlreadyExists(error) ? new NameTaken({ cause: error }) : error;
    });
    cache.observe(written);
    return written;
  }
}
