import type { Logger } from 'pino';
import type { LogLine } from '../../../build-logs/writer.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { LABELS } from '../../../crds/labels.ts';
import { splitTimestamp } from '../../../kubernetes/log-timestamp.ts';
import { byAge } from './service-diagnosis.ts';

/** The last output of one run of a container. */
export interface ContainerOutput {
  /** Identifies the run among those of all pods. */
  source: string;
  lines: LogLine[];
}

const maxLines = 100;
const maxBytes = 16 * 1024;
/** Maximum number of services; for each, only the newest pod is read. */
const maxServices = 10;
const readMs = 10_000;

export interface LastOutputOptions {
  client: Pick<ClusterClient, 'podLog'>;
  pods: Pick<Informer<Pod>, 'byIndex'>;
  logger: Logger;
}

/** Reads the last output of containers while their pods exist. */
export class LastOutput {
  readonly #options: LastOutputOptions;

  constructor(options: LastOutputOptions) {
    this.#options = options;
  }

  /**
   * Returns the end of the output of the services' containers, including the previous run. Output that cannot be read
   * is omitted.
   */
  async of(namespace: string, services: readonly string[]): Promise<ContainerOutput[]> {
    const runs = services.slice(0, maxServices).flatMap((service) => this.#runs(namespace, service));
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
      tailLines: maxLines,
      timestamps: true,
      signal: AbortSignal.timeout(readMs),
    };
    let kept: LogLine[] = [];
    let bytes = 0;
    try {
      for await (const text of this.#options.client.podLog({ namespace, name }, options)) {
        const line = splitTimestamp(text.slice(0, maxBytes));
        if (!line) continue;
        kept.push({ service, stage: 'run', ...line });
        bytes += line.line.length;
        while (bytes > maxBytes && kept.length > 1) bytes -= kept.shift()?.line.length ?? 0;
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
  /** Whether it is the run before the container's current one. */
  previous: boolean;
  /** Number of the container's start, counted from 1. */
  number: number;
  isOver: boolean;
}

/** Returns the last run that has ended, and the current one. */
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
