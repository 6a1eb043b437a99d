import { z } from 'zod';
import { stripControls } from '../../build-logs/controls.ts';
import type { CoreEvent } from '../../kubernetes/resource-type.ts';
import { unixSecondsOf } from '../shared/unix-seconds.ts';

/** A note of Kubernetes has at most 1 KiB. */
const maxNote = 1024;

/** A Kubernetes Event of an environment, or of an object in its namespace. */
export const eventViewSchema = z
  .object({
    object: z
      .object({ kind: z.string(), name: z.string() })
      .meta({ description: 'What it is about: the Environment, or a Pod, Job or Deployment of its contents.' }),
    type: z.enum(['Normal', 'Warning']),
    reason: z.string(),
    message: z.string(),
    count: z.int().meta({ description: 'How often it occurred.' }),
    firstAt: z.int().meta({ description: 'In Unix seconds.' }),
    lastAt: z.int().meta({ description: 'In Unix seconds.' }),
  })
  .meta({ id: 'EnvironmentEvent' });
export type EventView = z.infer<typeof eventViewSchema>;

/** Returns the newest events first. */
export function eventViews(events: readonly CoreEvent[], limit: number): EventView[] {
  return events
    .map(eventView)
    .sort((a, b) => b.lastAt - a.lastAt || b.firstAt - a.firstAt)
    .slice(0, limit);
}

function eventView(event: CoreEvent): EventView {
  const { type, reason, message, count, series, metadata, involvedObject } = event;
  const first = event.firstTimestamp ?? event.eventTime ?? metadata.creationTimestamp;
  const last = series?.lastObservedTime ?? event.lastTimestamp ?? first;
  return {
    object: { kind: involvedObject.kind ?? '', name: involvedObject.name ?? '' },
    type: type === 'Warning' ? 'Warning' : 'Normal',
    reason: reason ?? '',
    message: stripControls(message ?? '').slice(0, maxNote),
    count: series?.count ?? count ?? 1,
    firstAt: unixSecondsOf(first),
    lastAt: unixSecondsOf(last),
  };
}
