import { findCondition, type ConditionReport } from '../../../crds/conditions.ts';
import { formatId, idOf } from '../../../crds/ids.ts';
import type { Repository } from '../../../crds/repository.ts';
import { webhookPath, webhookSecretName } from '../../../crds/webhook.ts';
import { isUnavailable } from '../../../kubernetes/api-error.ts';
import { describe } from '../../shared/conditions.ts';
import { Waiting } from '../../shared/errors.ts';
import type { GitHosts } from '../hosts/git-hosts.ts';
import type { Webhook } from '../hosts/host.ts';
import { HostBusyError, SourceRefusedError, SourceUnreachableError } from '../errors.ts';
import { canReach } from './reach.ts';
import { isSameLocation, repositoryAt, webhookLocation, type WebhookLocation } from './webhook-location.ts';
import type { WebhookSecrets } from './webhook-secrets.ts';

export interface WebhookSetupOptions {
  secrets: Pick<WebhookSecrets, 'ensure' | 'remove'>;
  hosts: Pick<GitHosts, 'of'>;
  /** URL of the API. */
  apiUrl: URL;
  /** Returns whether comments can approve commits of forks in this Repository. */
  takesComments: (repository: Repository) => boolean;
  logger: { warn(fields: object, message: string): void };
  now: () => Date;
}

/** The state of a Repository's webhook: its condition Webhook, and status.webhook if there is one. */
export interface WebhookState {
  webhook: NonNullable<Repository['status']>['webhook'];
  report: ConditionReport;
  /** When to requeue, in milliseconds, if that is before the next sync. */
  recheckAfterMs?: number;
}

type MadeHook = Pick<NonNullable<WebhookState['webhook']>, 'id' | 'location'>;

const type = 'Webhook';
const removalRetryMs = 10_000;
/** How long a deleted Repository waits for a host that does not respond, in milliseconds. */
const removalDeadlineMs = 2 * 60_000;
/** Reasons for which a missing webhook is tried again. */
const passing = ['SecretTaken', 'HostUnreachable'];
const enterManually =
  'enter the webhook from the settings there; until then changes are detected when the refs are listed';

/**
 * Creates webhooks at the Git hosts of Repositories whose credentials permit it; otherwise users enter them manually.
 */
export class WebhookSetup {
  readonly #options: WebhookSetupOptions;

  constructor(options: WebhookSetupOptions) {
    this.#options = options;
  }

  /** Returns whether nothing was reported for the Repository's current generation, or the last failure may be over. */
  isDue(repository: Repository): boolean {
    const { metadata, status } = repository;
    const recorded = findCondition(status?.conditions, type);
    if (recorded === undefined || recorded.observedGeneration !== metadata.generation) return true;
    const { url, comments = false } = status?.webhook ?? {};
    const isOther = recorded.reason === 'Created' && comments !== this.#options.takesComments(repository);
    return passing.includes(recorded.reason) || url !== this.#urlOf(repository) || isOther;
  }

  /**
   * Creates the secret if missing, and the webhook at the Git host when due; returns undefined when the reported state
   * is up to date. Refusals and failures of the host are reported, not thrown: without a webhook, Coppice polls the
   * refs.
   */
  async ensure(repository: Repository): Promise<WebhookState | undefined> {
    const secret = await this.#secretOf(repository);
    if (secret instanceof Waiting) return withoutSecret(secret);
    if (!secret.isNew && !this.isDue(repository)) return undefined;
    const former = await this.#formerHook(repository);
    const comments = this.#options.takesComments(repository);
    return this.#create(repository, { url: this.#urlOf(repository), secret: secret.secret, comments }, former);
  }

  /**
   * Deletes the secret and the webhook that Coppice created. Throws Waiting while the host does not respond, up to a
   * deadline. After that, or if the host refuses, the webhook remains there and does not block the deletion.
   */
  async remove(repository: Repository): Promise<void> {
    await this.#options.secrets.remove(repository);
    const webhook = repository.status?.webhook;
    if (webhook?.id === undefined) return;
    const again = await this.#removeHook(repository, webhook.id, webhook.location);
    if (again && this.#options.now().getTime() + again.afterMs < removalEnd(repository)) throw again;
    if (again) this.#left(repository, again);
  }

  /** Deletes the webhook at the host; returns when to try again if the host does not respond. */
  async #removeHook(
    repository: Repository,
    id: string,
    location: WebhookLocation | undefined,
  ): Promise<Waiting | undefined> {
    const there = location ? repositoryAt(repository, location) : repository;
    try {
      if (!there) throw new Error("it is at the Repository's previous host. Delete it there");
      await (await this.#options.hosts.of(there)).removeWebhook(id);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      if (error instanceof SourceUnreachableError) {
        const afterMs = error instanceof HostBusyError ? error.retryAfterMs : removalRetryMs;
        return new Waiting('HostUnreachable', describe(error), afterMs, { cause: error });
      }
      this.#left(repository, error);
    }
    return undefined;
  }

  #left({ metadata: { namespace, name }, status }: Repository, err: unknown): void {
    const webhook = status?.webhook;
    this.#options.logger.warn({ err, namespace, name, webhook }, 'a webhook could not be deleted at the Git host');
  }

  async #secretOf(repository: Repository): Promise<{ secret: string; isNew: boolean } | Waiting> {
    try {
      return await this.#options.secrets.ensure(repository);
    } catch (error) {
      if (error instanceof Waiting) return error;
      throw error;
    }
  }

  /** Returns the webhook at the Repository's current location; deletes one at a former location if possible. */
  async #formerHook(repository: Repository): Promise<MadeHook> {
    const { id, location } = repository.status?.webhook ?? {};
    if (id === undefined) return {};
    if (location === undefined || isSameLocation(location, webhookLocation(repository))) return { id, location };
    const again = await this.#removeHook(repository, id, location);
    if (again) this.#left(repository, again);
    return {};
  }

  async #create(repository: Repository, webhook: Webhook, former: MadeHook): Promise<WebhookState> {
    const { hosts, apiUrl } = this.#options;
    const made = { url: webhook.url, secretName: webhookSecretName(repository.metadata.name) };
    const notMade = (reason: string, message: string): WebhookState => ({
      // The former webhook still exists; it is deleted with the Repository.
      webhook: { ...made, ...former },
      report: { type, status: 'False', reason, message },
    });
    try {
      const host = await hosts.of(repository);
      if (URL.canParse(host.webUrl) && !canReach(new URL(host.webUrl), apiUrl)) {
        return notMade(
          'NotReachable',
          `the API at ${apiUrl.origin} cannot be reached from the Git host: ${enterManually}`,
        );
      }
      const id = await host.ensureWebhook(webhook);
      if (id === undefined)
        return notMade('ToBeEntered', `Coppice cannot create a webhook at the Git host: ${enterManually}`);
      const message = 'the Git host reports changes through a webhook that Coppice created';
      const location = webhookLocation(repository);
      const hook = { id, location, ...(webhook.comments === true && { comments: true as const }) };
      return { webhook: { ...made, ...hook }, report: { type, status: 'True', reason: 'Created', message } };
    } catch (error) {
      if (error instanceof SourceRefusedError) return notMade('ToBeEntered', `${error.message}: ${enterManually}`);
      if (error instanceof SourceUnreachableError) return notMade('HostUnreachable', describe(error));
      throw error;
    }
  }

  #urlOf(repository: Repository): string {
    const path = webhookPath(repository.spec.type, formatId(idOf(repository)));
    return `${this.#options.apiUrl.origin}${path}`;
  }
}

/** Returns the end of the wait, in milliseconds since the epoch. */
function removalEnd({ metadata: { deletionTimestamp } }: Repository): number {
  return new Date(deletionTimestamp ?? 0).getTime() + removalDeadlineMs;
}

function withoutSecret({ reason, message, afterMs }: Waiting): WebhookState {
  return { webhook: undefined, report: { type, status: 'False', reason, message }, recheckAfterMs: afterMs };
}
