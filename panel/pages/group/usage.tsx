import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { environmentPage, groupPath } from '../../api/paths.ts';
import type { GroupUsage } from '../../api/types.ts';
import { Empty, LoadError, Skeleton } from '../../components/error-note.tsx';
import { Table } from '../../components/table.tsx';
import { Ago } from '../../components/times.tsx';
import { useResource } from '../../state/resource.ts';
import { byteText } from '../../view/bytes.ts';
import { counted } from '../../view/counted.ts';
import { cpuText } from '../../view/cpu.ts';
import { visibleText } from '../../view/visible-text.ts';

/** metrics-server measures every 15 s; the change stream does not report new values. */
const intervalMs = 15_000;

/** The CPU and memory that the environments of a group use together, and which of them use most. */
export function Usage({ id }: { id: string }): JSX.Element {
  const resource = useResource<GroupUsage>(`${groupPath(id)}/usage`);
  const usage = resource.data.value;
  const isMeasured = usage?.measured === true;
  useEffect(() => {
    if (!isMeasured) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') resource.invalidate();
    }, intervalMs);
    return () => clearInterval(timer);
  }, [resource, isMeasured]);
  if (!usage) {
    const error = resource.error.value;
    if (error) return <LoadError error={error} retry={() => void resource.reload()} what="usage" />;
    return <Skeleton what="usage" />;
  }
  if (!usage.measured) {
    return (
      <Empty title="Usage is not measured">
        <p>Here you see how much CPU and memory the group's environments use, and which ones are the largest.</p>
        <p class="wrap-anywhere">{usage.reason.charAt(0).toUpperCase() + usage.reason.slice(1)}.</p>
      </Empty>
    );
  }
  if (usage.environments === 0) {
    return (
      <Empty title="Nothing runs">
        <p>Here you see how much CPU and memory the group's environments use, after their first 30 seconds.</p>
      </Empty>
    );
  }
  const { cpu, memory, pods, environments, at, top } = usage;
  return (
    <section class="stack-small" aria-label="Usage">
      <p>
        <b class="figures">{cpuText(cpu)}</b> and <b class="figures">{byteText(memory)}</b> of memory{' '}
        <span class="muted">
          in {counted(pods, 'pod')} of {counted(environments, 'environment')}, measured <Ago at={at} />
        </span>
      </p>
      <h2>{environments > top.length ? `The ${top.length} environments that use most` : 'By environment'}</h2>
      <Table columns={['Environment', 'CPU', 'Memory', 'Pods']}>
        {top.map((environment) => (
          <tr key={environment.id}>
            <td>
              <a href={environmentPage(environment.id)} class="isolate">
                {visibleText(environment.name)}
              </a>
            </td>
            <td class="figures">{cpuText(environment.cpu)}</td>
            <td class="figures">{byteText(environment.memory)}</td>
            <td class="figures">{counted(environment.pods, 'pod')}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
