import { findCondition, type ConditionReport } from '../../../crds/conditions.ts';
import { formatId, groupOfNamespace } from '../../../crds/ids.ts';
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
  /** Where the API answers. */
  apiUrl: URL;
  logger: { warn(fields: object, message: string): void };
  now: () => Date;
}

/** What is to be reported of a Repository's webhook: its condition Webhook, and status.webhook where there is one. */
export interface WebhookState {
  webhook: NonNullable<Repository['status']>['webhook'];
  report: ConditionReport;
  /** In milliseconds: when to requeue, where that is sooner than the next sync. */
  recheckAfterMs?: number;
}

type MadeHook = Pick<NonNullable<WebhookState['webhook']>, 'id' | 'location'>;

const type = 'Webhook';
const removalRetryMs = 10_000;
/** So long after its deletion a Repository waits for a host that does not answer. */
const removalDeadlineMs = 2 * 60_000;
/** Why a webhook that is not made yet is tried again. */
const passing = ['SecretTaken', 'HostUnreachable'];
const byHand = 'enter the webhook from the settings there; until then changes are detected when the refs are listed';

/** Has each Repository's Git host report changes, where its credentials may; otherwise a user enters what is shown. */
export class WebhookSetup {
  readonly #options: WebhookSetupOptions;

  constructor(options: WebhookSetupOptions) {
    this.#options = options;
  }

  /** Whether nothing was reported yet of the Repository as it is now, or what may have passed by. */
  isDue(repository: Repository): boolean {
    const { metadata, status } = repository;
    const recorded = findCondition(status?.conditions, type);
    if (recorded === undefined || recorded.observedGeneration !== metadata.generation) return true;
    return passing.includes(recorded.reason) || status?.webhook?.url !== this.#urlOf(repository);
  }

  /**
   * Makes the secret where there is none, and has the Git host know it where it is due; undefined when all is as was
   * reported. What the host refuses or does not answer is reported, not thrown: without a webhook the refs are polled.
   */
  async ensure(repository: Repository): Promise<WebhookState | undefined> {
    const secret = await this.#secretOf(repository);
    if (secret instanceof Waiting) return withoutSecret(secret);
    if (!secret.isNew && !this.isDue(repository)) return undefined;
    const former = await this.#formerHook(repository);
    return this.#create(repository, { url: this.#urlOf(repository), secret: secret.secret }, former);
  }

  /**
   * Takes the secret away, and what Coppice made at the host. Throws Waiting while the host does not answer, for a
   * while; then, and where it refuses, the webhook is left there, which keeps nobody from deleting.
   */
  async remove(repository: Repository): Promise<void> {
    await this.#options.secrets.remove(repository);
    const webhook = repository.status?.webhook;
    if (webhook?.id === undefined) return;
    const again = await this.#removeHook(repository, webhook.id, webhook.location);
    if (again && this.#options.now().getTime() + again.afterMs < removalEnd(repository)) throw again;
    if (again) this.#left(repository, again);
  }

  /** Gives when to try again, where the host does not answer. */
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

  /** The hook that was made where the Repository is now; one at a former place is removed, if that can be. */
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
      // It is there still, to go with the Repository.
      webhook: { ...made, ...former },
      report: { type, status: 'False', reason, message },
    });
    try {
      const host = await hosts.of(repository);
      if (URL.canParse(host.webUrl) && !canReach(new URL(host.webUrl), apiUrl)) {
        return notMade('NotReachable', `the API at ${apiUrl.origin} cannot be reached from the Git host: ${byHand}`);
      }
      const id = await host.ensureWebhook(webhook);
      if (id === undefined) return notMade('ToBeEntered', `Coppice cannot create a webhook at the Git host: ${byHand}`);
      const message = 'the Git host reports changes through a webhook that Coppice created';
      const location = webhookLocation(repository);
      return { webhook: { ...made, id, location }, report: { type, status: 'True', reason: 'Created', message } };
    } catch (error) {
      if (error instanceof SourceRefusedError) return notMade('ToBeEntered', `${error.message}: ${byHand}`);
      if (error instanceof SourceUnreachableError) return notMade('HostUnreachable', describe(error));
      throw error;
    }
  }

  #urlOf({ metadata: { namespace = '', name }, spec }: Repository): string {
    const id = formatId({ group: groupOfNamespace(namespace) ?? '', name });
    return `${this.#options.apiUrl.origin}${webhookPath(spec.type, id)}`;
  }
}

/** In milliseconds since the epoch. */
function removalEnd({ metadata: { deletionTimestamp } }: Repository): number {
  return new Date(deletionTimestamp ?? 0).getTime() + removalDeadlineMs;
}

function withoutSecret({ reason, message, afterMs }: Waiting): WebhookState {
  return { webhook: undefined, report: { type, status: 'False', reason, message }, recheckAfterMs: afterMs };
}
