import type { Logger } from 'pino';
import { LABELS } from '../../crds/labels.ts';
import type { BuildLogWriter } from '../../build-logs/writer.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import type { Pod } from '../../kubernetes/resource-type.ts';
import { LogSession } from './log-session.ts';

export interface LogSessionsOptions {
  client: Pick<ClusterClient, 'podLog'>;
  pods: Informer<Pod>;
  openWriter: (logId: string, secrets: string[]) => Promise<BuildLogWriter>;
  /** Looks at the environment again: more of its build's log is complete. */
  enqueue: (environmentKey: string) => void;
  logger: Logger;
}

export interface OpenLog {
  logId: string;
  environmentKey: string;
  namespace: string;
  buildNumber: number;
  /** Never to appear in the log. */
  secrets: string[];
}

/** The logs of the builds that run now, one session each. */
export class LogSessions {
  readonly #options: LogSessionsOptions;
  readonly #sessions = new Map<string, LogSession>();

  constructor(options: LogSessionsOptions) {
    this.#options = options;
  }

  open({ logId, environmentKey, namespace, buildNumber, secrets }: OpenLog): LogSession {
    const existing = this.#sessions.get(logId);
    if (existing) return existing;
    const { client, pods, openWriter, enqueue, logger } = this.#options;
    const session = new LogSession({
      client,
      openWriter: () => openWriter(logId, secrets),
      currentPod: () => buildPod(pods, namespace, buildNumber),
      onDrained: () => enqueue(environmentKey),
      logger: logger.child({ build: logId }),
    });
    this.#sessions.set(logId, session);
    return session;
  }

  close(logId: string): void {
    this.#sessions.get(logId)?.stop();
    this.#sessions.delete(logId);
  }

  stopAll(): void {
    for (const logId of [...this.#sessions.keys()]) this.close(logId);
  }
}

/** The pod that works on this build, if there is one. */
export function buildPod(pods: Informer<Pod>, namespace: string, buildNumber: number): Pod | undefined {
  return pods
    .byIndex('namespace', namespace)
    .find((pod) => pod.metadata.labels?.[LABELS.build] === String(buildNumber));
}
