import type { Logger } from 'pino';
import { LABELS } from '../../../crds/labels.ts';
import type { BuildLogWriter } from '../../../build-logs/writer.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { LogSession } from './log-session.ts';
import { SharedTexts } from './shared-texts.ts';

export interface LogSessionsOptions {
  client: Pick<ClusterClient, 'podLog'>;
  pods: Informer<Pod>;
  openWriter: (logId: string, secrets: string[]) => Promise<BuildLogWriter>;
  /** Called when a log has its end message. */
  onEnded: (environmentUid: string, buildNumber: number) => Promise<void>;
  /** Requeues the environment: more of its build's log is complete, or reports a pushed image. */
  enqueue: (environmentKey: string) => void;
  logger: Logger;
}

export interface OpenLog {
  logId: string;
  environmentKey: string;
  namespace: string;
  buildNumber: number;
  /** Texts to mask in the log. */
  secrets: string[];
}

/** Manages the log sessions of running builds, one for each. */
export class LogSessions {
  readonly #options: LogSessionsOptions;
  readonly #sessions = new Map<string, { session: LogSession; secrets: ReadonlySet<string> }>();
  /** Environments of a repository have the same secrets, and thousands of builds can wait at once. */
  readonly #texts = new SharedTexts();

  constructor(options: LogSessionsOptions) {
    this.#options = options;
  }

  open({ logId, environmentKey, namespace, buildNumber, secrets }: OpenLog): LogSession {
    const existing = this.#sessions.get(logId);
    if (existing && secrets.every((secret) => existing.secrets.has(secret))) return existing.session;
    // If more secrets are known now, the log continues in a session that masks them too.
    const known = new Set([...(existing?.secrets ?? []), ...secrets]);
    const all = new Set(Array.from(known, (secret) => this.#texts.take(secret)));
    this.close(logId);
    const { client, pods, openWriter, onEnded, enqueue, logger } = this.#options;
    const [environmentUid = ''] = logId.split('/');
    const session = new LogSession({
      client,
      openWriter: () => openWriter(logId, [...all]),
      currentPod: () => buildPod(pods, namespace, buildNumber),
      onDrained: () => enqueue(environmentKey),
      onPushed: () => enqueue(environmentKey),
      onEnded: () => onEnded(environmentUid, buildNumber),
      logger: logger.child({ build: logId }),
    });
    this.#sessions.set(logId, { session, secrets: all });
    return session;
  }

  /** Number of different secrets of all logs. */
  get texts(): number {
    return this.#texts.size;
  }

  has(logId: string): boolean {
    return this.#sessions.has(logId);
  }

  close(logId: string): void {
    const { session, secrets = [] } = this.#sessions.get(logId) ?? {};
    session?.stop();
    for (const secret of secrets) this.#texts.release(secret);
    this.#sessions.delete(logId);
  }

  stopAll(): void {
    for (const logId of [...this.#sessions.keys()]) this.close(logId);
  }
}

/** Returns the build's pod, the newest if it was retried; undefined if there is none. */
export function buildPod(pods: Informer<Pod>, namespace: string, buildNumber: number): Pod | undefined {
  return pods
    .byIndex('namespace', namespace)
    .filter((pod) => pod.metadata.labels?.[LABELS.build] === String(buildNumber))
    .toSorted((a, b) => (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? ''))
    .at(-1);
}
