import type { JSX } from 'preact';
import type { EnvironmentView } from '../../api/types.ts';
import { environmentPath } from '../../api/paths.ts';
import { Icon } from '../../components/icons.tsx';
import { LogLink } from '../../components/log-link.tsx';
import { Sparkline } from '../../components/sparkline.tsx';
import { STATE_ICONS } from '../../components/state-badge.tsx';
import { now } from '../../state/clock.ts';
import { useUsage, type UsageHistory } from '../../state/usage.ts';
import { byteText } from '../../view/bytes.ts';
import { cpuText } from '../../view/cpu.ts';
import { depthOf, inDependencyOrder } from '../../view/service-order.ts';
import { shownService, startingSince, type ServiceSurroundings } from '../../view/shown-service.ts';

type Service = EnvironmentView['services'][number];

/** The services in the order in which they start. */
export function Services({ environment }: { environment: EnvironmentView }): JSX.Element | null {
  const { id, services, status } = environment;
  const isRemoving = environment.removing === true;
  const isRunning = status !== 'empty' && !isRemoving && environment.asleep !== true && services.length > 0;
  const history = useUsage(`${environmentPath(id)}/usage`, isRunning);
  if (services.length === 0) return null;
  const ordered = inDependencyOrder(services);
  const ready = new Set(services.flatMap((service) => (service.ready ? service.name : [])));
  const since = startingSince(environment);
  const surroundings: ServiceSurroundings = {
    ...{ status, isRemoving, ready, startingSince: since, isAsleep: environment.asleep === true },
    // Without a start nothing depends on the time, and nothing is rendered each second.
    now: since === undefined ? 0 : now.value / 1000,
  };
  return (
    <section class="card" aria-label="Services">
      <div class="card-head">
        <h2>Services</h2>
        <span class="muted figures">
          {isRemoving
            ? 'being deleted'
            : environment.asleep === true
              ? 'asleep'
              : `${ready.size} of ${services.length} ready`}
        </span>
      </div>
      <ul>
        {ordered.map((service) => (
          <ServiceRow
            key={service.name}
            service={service}
            depth={depthOf(services, service.name)}
            history={history}
            surroundings={surroundings}
          />
        ))}
      </ul>
    </section>
  );
}

const maxDepth = 4;

function ServiceRow({
  service,
  depth,
  history,
  surroundings,
}: {
  service: Service;
  depth: number;
  history: UsageHistory;
  surroundings: ServiceSurroundings;
}): JSX.Element {
  const { name, restarts, lastTermination } = service;
  const job = service.job === true;
  const { state, word } = shownService(service, surroundings);
  const points = surroundings.isAsleep || surroundings.isRemoving ? [] : (history.get(name) ?? []);
  const latest = points.at(-1);
  return (
    <li class={`service-row state-${state}`} style={{ '--depth': Math.min(depth, maxDepth) }}>
      <span class="service-name">
        <Icon name={STATE_ICONS[state]} />
        <b class="isolate one-line">{name}</b>
      </span>
      <span class="service-state">
        {word}
        {restarts > 0 && (
          <span class="muted" title={terminationText(lastTermination)}>
            , {restarts} {restarts === 1 ? 'restart' : 'restarts'}
            {lastTermination && ` (${lastTermination.reason})`}
          </span>
        )}
      </span>
      <span class="service-image muted one-line" title={service.image}>
        {job && 'job · '}
        <span class="isolate">{imageText(service)}</span>
      </span>
      <span class="service-addresses one-line">
        {(surroundings.isRemoving ? [] : (service.addresses ?? [])).map((address) => (
          <a key={address} href={address} target="_blank" rel="noopener noreferrer">
            {address.replace(/^https?:\/\//, '').replace(/\/$/, '')}
          </a>
        ))}
        {(service.addresses ?? []).length === 0 && (service.ports ?? []).length > 0 && (
          <span class="muted">port {(service.ports ?? []).join(', ')}</span>
        )}
      </span>
      <span class="service-usage muted figures">
        {latest && (
          <>
            <Sparkline values={points.map(({ cpu }) => cpu)} label={`CPU of ${name}: ${cpuText(latest.cpu)}`} />
            <span>{cpuText(latest.cpu)}</span>
            <Sparkline
              values={points.map(({ memory }) => memory)}
              label={`Memory of ${name}: ${byteText(latest.memory)}`}
            />
            <span>{byteText(latest.memory)}</span>
          </>
        )}
      </span>
      <LogLink class="service-logs" service={name}>
        Logs<span class="visually-hidden"> of {name}</span>
      </LogLink>
      {service.message !== undefined && !service.ready && state !== 'deleting' && (
        <p class="service-message isolate">{service.message}</p>
      )}
    </li>
  );
}

function imageText({ built, image }: Service): string {
  if (built === true) return 'built from the repository';
  return image?.replace(/@sha256:([0-9a-f]{7}).*$/, '@$1') ?? '';
}

function terminationText(last: Service['lastTermination']): string | undefined {
  return last && `last ended with exit code ${last.exitCode}: ${last.reason}`;
}
