import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { EnvironmentView } from '../../api/types.ts';
import { environmentPath } from '../../api/paths.ts';
import { LogLink } from '../../components/log-link.tsx';
import { Pieces } from '../../components/log-row.tsx';
import { LogFollower } from '../../state/log-follower.ts';
import type { LogLine } from '../../view/log-line.ts';

const shown = 8;

/** The last lines of the log of the failed build that can explain the failure, each with a link to it. */
export function LastLines({
  environment: { id, build },
  service,
}: {
  environment: EnvironmentView;
  service: string | undefined;
}): JSX.Element | null {
  const lines = useSignal<readonly LogLine[]>([]);
  const number = build?.number;
  const isRollout = build?.stages?.some(({ name }) => name === 'rollout') === true;
  useEffect(() => {
    if (number === undefined) return undefined;
    lines.value = [];
    const follower = new LogFollower(
      { path: `${environmentPath(id)}/build/logs`, query: { build: String(number) } },
      {
        onLines: (more) => {
          const own = more.filter(
            (line) =>
              (service === undefined || line.service === service || line.service === '') &&
              // What built the images does not explain why services do not run.
              !(isRollout && line.stage === 'build'),
          );
          lines.value = [...lines.value, ...own].slice(-shown);
        },
      },
    );
    follower.start();
    return () => follower.stop();
  }, [id, number, service, isRollout]);
  if (lines.value.length === 0) return null;
  return (
    <div class="last-lines" role="region" aria-label="Last lines of the build's log" tabIndex={0}>
      <ol>
        {lines.value.map((line) => (
          <li key={line.seq}>
            <LogLink {...(number !== undefined && { build: number })} line={line.seq}>
              {line.seq}
            </LogLink>
            <code class="isolate">
              <Pieces line={line} />
            </code>
          </li>
        ))}
      </ol>
    </div>
  );
}
