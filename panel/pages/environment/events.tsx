import type { JSX } from 'preact';
import type { EventView } from '../../api/types.ts';
import { environmentPath } from '../../api/paths.ts';
import { Empty, LoadError, Skeleton } from '../../components/error-note.tsx';
import { Icon } from '../../components/icons.tsx';
import { Table } from '../../components/table.tsx';
import { Ago } from '../../components/times.tsx';
import { useResource } from '../../state/resource.ts';

/** The Kubernetes Events of an environment and of its contents. */
export function Events({ id }: { id: string }): JSX.Element {
  const resource = useResource<EventView[]>(`${environmentPath(id)}/events?limit=100`);
  const events = resource.data.value;
  const error = resource.error.value;
  if (!events) {
    if (error) return <LoadError error={error} retry={() => void resource.reload()} what="list of events" />;
    return <Skeleton what="events" />;
  }
  if (events.length === 0) {
    return (
      <Empty title="No events">
        <p>Kubernetes keeps events for an hour. Builds and changes of state appear here as they happen.</p>
      </Empty>
    );
  }
  return (
    <Table columns={['Last seen', 'Object', 'Reason', 'Message', 'Count']}>
      {events.map((event) => (
        <tr key={`${event.object.kind}/${event.object.name} ${event.reason} ${event.firstAt} ${event.message}`}>
          <td class="muted">
            <Ago at={event.lastAt} />
          </td>
          <td class="isolate">
            {event.object.kind} {event.object.kind === 'Environment' ? '' : event.object.name}
          </td>
          <td>
            <span class={`row ${event.type === 'Warning' ? 'state-degraded event-warning' : ''}`}>
              {event.type === 'Warning' && <Icon name="warning" />} {event.reason}
            </span>
          </td>
          <td class="isolate">{event.message}</td>
          <td class="figures">{event.count > 1 && event.count}</td>
        </tr>
      ))}
    </Table>
  );
}
