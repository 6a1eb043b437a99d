import type { Logger } from 'pino';
import type { LogLine } from '../../../build-logs/writer.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { LABELS } from '../../../crds/labels.ts';
import { splitTimestamp } from '../../../kubernetes/log-timestamp.ts';
import { byAge } from './service-diagnosis.ts';

/** What one run of a container has written last. */
export interface ContainerOutput {
  /** Names the run among all of all pods. */
  source: string;
  lines: LogLine[];
}

const MAX_LINES = 100;
const MAX_BYTES = 16 * 1024;
/** Of each service, its newest pod; and of so many services. */
const MAX_SERVICES = 10;
const READ_MS = 10_000;

export interface LastOutputOptions {
  client: Pick<ClusterClient, 'podLog'>;
  pods: Pick<Informer<Pod>, 'byIndex'>;
  logger: Logger;
}

/** Reads what containers wrote before they ended, as long as their pods are there. */
export class LastOutput {
  readonly #options: LastOutputOptions;

  constructor(options: LastOutputOptions) {
    this.#options = options;
  }

  /** The end of what the services' containers have written, of the run before included. What cannot be read is left out. */
  async of(namespace: string, services: readonly string[]): Promise<ContainerOutput[]> {
    const runs = services.slice(0, MAX_SERVICES).flatMap((service) => this.#runs(namespace, service));
    const outputs = await Promise.all(runs.map((run) => this.#read(run)));
    return outputs.filter((output) => output !== undefined);
  }

  #runs(namespace: string, service: string): Run[] {
    const pods = this.#options.pods
      .byIndex('namespace', namespace)
      .filter(({ metadata }) => metadata.labels?.[LABELS.service] === service && !metadata.labels[LABELS.build]);
    return byAge(pods)
      .slice(0, 1)
      .flatMap((pod) => runsOf(pod, service));
  }

  async #read({ pod, container, service, previous, number, isOver }: Run): Promise<ContainerOutput | undefined> {
    const { namespace, name } = pod.metadata;
    const options = {
      container,
      previous,
      tailLines: MAX_LINES,
      timestamps: true,
      signal: AbortSignal.timeout(READ_MS),
    };
    let kept: LogLine[] = [];
    let bytes = 0;
    try {
      for await (const text of this.#options.client.podLog({ namespace, name }, options)) {
        const line = splitTimestamp(text.slice(0, MAX_BYTES));
        if (!line) continue;
        kept.push({ service, stage: 'run', ...line });
        bytes += line.line.length;
        while (bytes > MAX_BYTES && kept.length > 1) bytes -= kept.shift()?.line.length ?? 0;
      }
    } catch (error) {
      this.#options.logger.debug({ err: error, pod: name, container }, 'the last output of a container cannot be read');
      kept = [];
    }
    if (kept.length === 0) return undefined;
    const words = isOver ? `before it exited (start ${number})` : `since it was started (start ${number})`;
    const heading = { service, stage: 'coppice', line: `the last lines that ${service} wrote ${words}:` };
    return { source: `${name}/${container}/${number}`, lines: [heading, ...kept] };
  }
}

interface Run {
  pod: Pod;
  service: string;
  container: string;
  /** It is the one before the container's present one. */
  previous: boolean;
  /** Counts the starts of the container, from 1. */
  number: number;
  isOver: boolean;
}

/** The last run that is over, and the one that goes on. */
function runsOf(pod: Pod, service: string): Run[] {
  return (pod.status?.containerStatuses ?? []).flatMap(({ name: container, restartCount, state, lastState }) => {
    const run = (previous: boolean, number: number, isOver: boolean): Run => ({
      ...{ pod, service, container, previous, number, isOver },
    });
    const before = lastState?.terminated ? [run(true, Math.max(restartCount, 1), true)] : [];
    const number = restartCount + 1;
    if (state?.terminated) return [...before, run(false, number, true)];
    return state?.running ? [...before, run(false, number, false)] : before;
  });
}
