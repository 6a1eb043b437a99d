import type { ClusterClient } from '../../../kubernetes/client.ts';
import { Event, type Job } from '../../../kubernetes/resource-type.ts';
import { explainRefusal } from './refusal.ts';

export interface PodRefusal {
  /** Why the pod was refused, and what to do. */
  message: string;
  /** Whether a quota refused it, which lasts until usage decreases or the quota is raised. */
  isQuota: boolean;
}

/** Returns why the Job has no pod, from the Job controller's events; the Job itself does not report it. */
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
