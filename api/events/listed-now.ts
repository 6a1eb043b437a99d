import type { FreshCaches } from '../cluster/caches.ts';
import { deletedWith } from '../cluster/deletion.ts';
import { splitKey } from '../../kubernetes/resource-type.ts';
import { groupOfNamespace } from '../../crds/ids.ts';
import { listedEnvironment } from '../environments/listed-environment.ts';
import { listedGroup } from '../groups/listed-group.ts';
import { listedRepository } from '../repositories/listed-repository.ts';
import type { Change, ChangedObject } from './change.ts';

type ReadCaches = Pick<FreshCaches, 'groups' | 'repositories' | 'environments'>;

/** Returns an object as it is now, as lists show it. */
export function listedNow({ kind, key, id }: ChangedObject, caches: ReadCaches): Change {
  if (kind === 'group') {
    const group = caches.groups.get(key);
    return group ? { kind, id, change: 'updated', item: listedGroup(group) } : { kind, id, change: 'deleted' };
  }
  const owner = ownerOf(key, caches);
  if (kind === 'repository') {
    const repository = caches.repositories.get(key);
    if (!repository) return { kind, id, change: 'deleted' };
    return { kind, id, change: 'updated', item: listedRepository(owner ? deletedWith(owner, repository) : repository) };
  }
  const environment = caches.environments.get(key);
  if (!environment) return { kind, id, change: 'deleted' };
  const { namespace } = environment.metadata;
  const repository = caches.repositories.get(`${namespace}/${environment.spec.repository}`);
  const owners = [owner, repository].flatMap((one) => one ?? []);
  const shown = owners.reduce((object, one) => deletedWith(one, object), environment);
  return { kind, id, change: 'updated', item: listedEnvironment(shown) };
}

function ownerOf(key: string, { groups }: Pick<FreshCaches, 'groups'>) {
  const name = groupOfNamespace(splitKey(key).namespace ?? '');
  return name === undefined ? undefined : groups.get(name);
}
