import type { JSX } from 'preact';
import type { BuildView, EnvironmentView } from '../../api/types.ts';
import { environmentPath } from '../../api/paths.ts';
import { Icon, type IconName } from '../../components/icons.tsx';
import { LogLink } from '../../components/log-link.tsx';
import { Sparkline } from '../../components/sparkline.tsx';
import { Ago } from '../../components/times.tsx';
import { now } from '../../state/clock.ts';
import { useResource } from '../../state/resource.ts';
import { byteText } from '../../view/bytes.ts';
import type { ShownState } from '../../view/shown-state.ts';
import { secondsOf, segmentsOf } from '../../view/timeline.ts';
import { duration } from '../../view/time.ts';
import { buildSubject, startText } from '../../view/build-text.ts';
import { visibleText } from '../../view/visible-text.ts';
import { shortCommit } from '../../view/short-commit.ts';

const results: Record<BuildView['result'], { state: ShownState; icon: IconName }> = {
  pending: { state: 'created', icon: 'clock' },
  running: { state: 'building', icon: 'progress' },
  succeeded: { state: 'built', icon: 'check' },
  failed: { state: 'failed', icon: 'cross' },
  superseded: { state: 'empty', icon: 'ring' },
  cancelled: { state: 'empty', icon: 'ring' },
};

/** The current or last build by stage, and earlier builds. */
export function Builds({ environment }: { environment: EnvironmentView }): JSX.Element | null {
  const builds = useResource<BuildView[]>(`${environmentPath(environment.id)}/builds`).data.value ?? [];
  const [current, ...others] = builds;
  if (!current) return null;
  const all = builds.map((build) => secondsOf(build, now.value / 1000) ?? 0);
  const max = Math.max(1, ...all);
  return (
    <section class="card" aria-label="Builds">
      <div class="card-body stack-small">
        <CurrentBuild build={current} isDeployed={environment.status !== 'empty' && environment.removing !== true} />
        {others.length > 0 && (
          <details class="previous-builds" open={current.result !== 'running'}>
            <summary>
              Previous builds <Sizes builds={builds} />
            </summary>
            <ol>
              {others.map((build) => (
                <PreviousBuild key={build.number} build={build} max={max} />
              ))}
            </ol>
          </details>
        )}
      </div>
    </section>
  );
}

function CurrentBuild({ build, isDeployed }: { build: BuildView; isDeployed: boolean }): JSX.Element {
  const { state: result, icon } = results[build.result];
  // What a build deployed is gone with the contents.
  const state = !isDeployed && result === 'built' ? 'empty' : result;
  const current = now.value / 1000;
  const seconds = secondsOf(build, current);
  const segments = segmentsOf(build, current);
  return (
    <div class={`current-build state-${state}`}>
      <div class="spread">
        <h2 class="row">
          <Icon name={icon} /> Build {build.number} {build.result}
        </h2>
        <span class="muted row">
          {build.trigger !== undefined && <span>{startText(build.trigger)}</span>}
          {seconds !== undefined && <span class="figures">{duration(seconds)}</span>}
          {build.startedAt !== undefined && <Ago at={build.startedAt} />}
        </span>
      </div>
      {(build.commit !== undefined || build.subject !== undefined) && (
        <p class="row muted">
          {build.commit !== undefined && <code>{build.commit.slice(0, shortCommit)}</code>}
          <span class="isolate">{build.subject !== undefined && visibleText(buildSubject(build))}</span>
        </p>
      )}
      {build.result === 'running' && build.message !== undefined && <p class="muted isolate">{build.message}</p>}
      {segments.length > 0 && (
        <>
          <div class="timeline">
            {segments.map((segment) => (
              <LogLink
                key={segment.name}
                class={`segment ${segment.isRunning ? 'is-running' : ''}`}
                {...(build.number !== undefined && { build: build.number })}
                stage={segment.name}
                style={{ left: `${segment.start}%`, width: `${segment.width}%` }}
                title={`${segment.name}: ${duration(segment.seconds)}`}
              >
                <span class="visually-hidden">
                  {segment.name}: {duration(segment.seconds)}
                </span>
              </LogLink>
            ))}
          </div>
          <ul class="timeline-legend">
            {segments.map(({ name, seconds: taken, isRunning }) => (
              <li key={name}>
                {name} <span class="figures muted">{duration(taken)}</span>
                {isRunning && <span class="muted"> so far</span>}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** The size of the images over the builds. */
function Sizes({ builds }: { builds: readonly BuildView[] }): JSX.Element | null {
  const sizes = builds.flatMap(({ size }) => size ?? []);
  const [newest] = sizes;
  if (newest === undefined || sizes.length < 2) return null;
  return (
    <span class="build-sizes">
      <Sparkline values={sizes.toReversed()} label={`Size of the images over builds, now ${byteText(newest)}`} />
    </span>
  );
}

function PreviousBuild({ build, max }: { build: BuildView; max: number }): JSX.Element {
  const { state, icon } = results[build.result];
  const seconds = build.duration ?? 0;
  return (
    <li class={`previous-build state-${state}`}>
      <LogLink {...(build.number !== undefined && { build: build.number })}>
        <Icon name={icon} />
        <span class="figures">{build.number}</span>
        <span class="visually-hidden">{build.result}</span>
      </LogLink>
      <code class="muted">{build.commit?.slice(0, shortCommit)}</code>
      <span class="one-line muted isolate">{visibleText(buildSubject(build))}</span>
      <span class="duration-bar" aria-hidden="true">
        <span style={{ width: `${Math.max(2, (100 * seconds) / max)}%` }} />
      </span>
      <span class="figures">{duration(seconds)}</span>
      <span class="build-size figures muted" title="Size of its images">
        {build.size !== undefined && byteText(build.size)}
      </span>
      <span class="muted">{build.startedAt !== undefined && <Ago at={build.startedAt} isShort />}</span>
    </li>
  );
}
