import type { ClusterClient } from '../../../kubernetes/client.ts';
import { Event, type Job } from '../../../kubernetes/resource-type.ts';
import { explainRefusal } from './refusal.ts';

export interface PodRefusal {
  /** In words to act on. */
  message: string;
  /** It lasts until somebody asks for less, ends something, or raises the quota. */
  isQuota: boolean;
}

/** Why the Job's pod is not made, as the Job controller's events tell: nothing in the Job itself does. */
export async function podRefusal(
  client: Pick<ClusterClient, 'list'>,
  { metadata: { namespace, name, uid } }: Job,
): Promise<PodRefusal | undefined> {
  const { items } = await client.list(Event, { namespace, fieldSelector: 'reason=FailedCreate' });
  const notes = items.filter(({ regarding }) => regarding?.kind === 'Job' && regarding.name === name);
  const note = notes.findLast(({ regarding }) => regarding?.uid === uid)?.note;
  if (note === undefined) return undefined;
  return { message: explainRefusal(note), isQuota: note.includes('exceeded quota') };
}
