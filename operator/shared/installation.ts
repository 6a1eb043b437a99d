import type { ClusterClient } from '../../kubernetes/client.ts';
import { Namespace } from '../../kubernetes/resource-type.ts';
import { readOnce } from './read-once.ts';

/**
 * Returns a function that reads the ID of this installation: the UID of the release's namespace, which no other cluster and
 * no other installation has, even if it was restored from a backup of this one.
 */
export function installationId(client: Pick<ClusterClient, 'get'>, namespace: string): () => Promise<string> {
  return readOnce(async () => {
    const { metadata } = await client.get(Namespace, { name: namespace });
    if (metadata.uid === undefined) throw new Error(`the namespace ${namespace} has no UID`);
    return metadata.uid;
  });
}
