import type { JSX } from 'preact';
import type { EnvironmentView } from '../../api/types.ts';
import { Icon } from '../../components/icons.tsx';
import { LogLink } from '../../components/log-link.tsx';
import { Lasting } from '../../components/times.tsx';
import { afterFailure } from '../../view/build-text.ts';
import { reasonText } from '../../view/conditions.ts';
import { problemLines } from '../../view/problem-lines.ts';
import { visibleText } from '../../view/visible-text.ts';
import { LastLines } from './last-lines.tsx';

/** The reason why an environment is not ready, since when, and what to do. A healthy one has no such card. */
export function WhyCard({ environment }: { environment: EnvironmentView }): JSX.Element | null {
  const { health, problem, conditions, services, build } = environment;
  // The card of the approval says what is waited for.
  if (!problem || problem.reason === 'WaitingForApproval') return null;
  const { reason, since, service } = problem;
  // Lists truncate a long message; the condition contains all of it.
  const full = conditions.find((one) => one.reason === reason)?.message ?? problem.message;
  const { problems, output } = problemLines(reason, full);
  const others = services.filter(({ ready, message }) => !ready && message !== undefined && !full.includes(message));
  const state = health === 'degraded' ? 'degraded' : health === 'progressing' ? 'building' : 'failed';
  const after = afterFailure(environment);
  return (
    <section class={`why card state-${state}`} aria-label="Why it is not ready">
      <div class="card-head">
        <h2 class="row">
          <Icon name={state === 'failed' ? 'cross' : 'warning'} /> <span title={reason}>{reasonText(reason)}</span>
          {service !== undefined && <span class="muted isolate">{service}</span>}
        </h2>
        <span class="muted">
          for <Lasting at={since} />
        </span>
      </div>
      <div class="card-body stack-small">
        {after !== undefined && <p>{after}</p>}
        {problems.length === 1 && <p class="isolate">{visibleText(problems[0] ?? '')}</p>}
        {problems.length > 1 && (
          <ul class="stack-small" aria-label="Problems">
            {problems.map((one) => (
              <li key={one} class="isolate">
                {visibleText(one)}
              </li>
            ))}
          </ul>
        )}
        {output.length > 0 && (
          <pre class="why-output" role="region" tabIndex={0} aria-label="Output">
            {output.map(visibleText).join('\n')}
          </pre>
        )}
        {others.length > 0 && (
          <ul class="stack-small">
            {others.map((one) => (
              <li key={one.name}>
                <b class="isolate">{one.name}</b> <span class="isolate">{one.message}</span>
              </li>
            ))}
          </ul>
        )}
        {ofBuild.test(reason) && output.length === 0 && <LastLines environment={environment} service={service} />}
        {ofBuild.test(reason) && build?.number !== undefined && (
          <p>
            <LogLink build={build.number}>Log of build {build.number}</LogLink>
          </p>
        )}
        {service !== undefined && (
          <p>
            <LogLink service={service}>Logs of {service}</LogLink>
          </p>
        )}
      </div>
    </section>
  );
}

/** Reasons that the log of the build explains. */
const ofBuild = /^(BuildFailed|RolloutFailed|JobFailed|LimitExceeded)$/;
