import type { JSX } from 'preact';
import type { EnvironmentView } from '../../api/types.ts';
import { environmentPath } from '../../api/paths.ts';
import { Empty } from '../../components/error-note.tsx';
import { LogViewer } from '../../components/log-viewer.tsx';
import { useQuery } from '../../state/page.ts';

const tail = '1000';

/** The log of a build or of a running service, chosen by the address. */
export function EnvironmentLogs({ environment }: { environment: EnvironmentView }): JSX.Element {
  const { id, build, services } = environment;
  const { query, setQuery } = useQuery();
  const service = services.find(({ name }) => name === query['log']);
  const number = query['build'] ?? (build?.number === undefined ? undefined : String(build.number));
  const choose = (value: string) => {
    const [kind, which] = value.split(' ');
    const changes = { line: undefined, stage: undefined, service: undefined, only: undefined };
    setQuery(
      kind === 'service' ? { ...changes, log: which, build: undefined } : { ...changes, log: undefined, build: which },
    );
  };
  const path = environmentPath(id);
  const choice = (
    <select aria-label="Log of" onInput={(event) => choose(event.currentTarget.value)}>
      {number !== undefined && (
        <option value={`build ${number}`} selected={!service}>
          Build {number}
        </option>
      )}
      {services.map(({ name }) => (
        <option key={name} value={`service ${name}`} selected={service?.name === name}>
          Service {name}
        </option>
      ))}
    </select>
  );
  return (
    <div>
      {service ? (
        <LogViewer
          key={`service ${service.name}`}
          choice={choice}
          source={{ path: `${path}/services/${encodeURIComponent(service.name)}/logs`, query: { tail } }}
          withServices={false}
          isNumberedByPosition
          fileName={`${id}-${service.name}.log`}
          missing="The service does not run, so it has no log now."
        />
      ) : number === undefined ? (
        <Empty title="No build yet">
          <p>The log of each build is shown here while it runs. Build the environment to see the first one.</p>
        </Empty>
      ) : (
        <LogViewer
          key={`build ${number}`}
          choice={choice}
          source={{ path: `${path}/build/logs`, query: { build: number } }}
          withServices
          downloadPath={`${path}/build/logs?build=${number}`}
          fileName={`${id}-build-${number}.log`}
          missing="The log of this build is no longer kept."
        />
      )}
    </div>
  );
}
