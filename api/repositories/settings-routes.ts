import { SCHEDULE_WITHOUT_HOUR, type Repository } from '../../crds/repository.ts';
import type { Group } from '../../crds/group.ts';
import { permits, canReadValues } from '../auth/access.ts';
import type { Caller } from '../auth/caller.ts';
import type { Directory } from '../auth/visibility.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import { APPLIED_BY_OTHERS } from '../cluster/ownership.ts';
import { changesAccess, type AccessSettings } from '../environment-access/access-settings.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { Invalid } from '../shared/errors.ts';
import type { AccountCaps } from '../limits/account-caps.ts';
import type { ServiceFileChecker } from '../service-file-check/checker.ts';
import { formatProblem } from '../../service-file/problems.ts';
import { TOO_MUCH_TEXT, variableRoutes } from '../variables/routes.ts';
import type { VariableService } from '../variables/variable-service.ts';
import { webhookSecret } from '../webhooks/webhook-secret.ts';
import type { RepositoryService } from './repository-service.ts';
import {
  changeSettingsSchema,
  leavesScheduleWithoutHour,
  repositorySettingsView,
  repositorySettingsViewSchema,
  serviceFileInForce,
  type ServiceFileInForce,
  type WebhookView,
} from './repository-settings.ts';
import type { ServiceFileTexts } from './service-file-texts.ts';

export interface RepositorySettingsRoutesOptions {
  directory: Directory;
  repositories: RepositoryService;
  variables: VariableService<Repository>;
  texts: Pick<ServiceFileTexts, 'read'>;
  caps: AccountCaps;
  checker: ServiceFileChecker;
  cluster: Pick<ClusterWriter, 'find'>;
  access: AccessSettings;
  /** Checks that the caller owns the group. @throws Forbidden */
  members: { requireOwner: (group: Group, actor: string, what: string) => void };
}

/** Routes of a repository's settings and variables. */
export function repositorySettingsRoutes(options: RepositorySettingsRoutesOptions): Endpoint[] {
  const { directory, repositories, variables, texts, caps, checker, cluster, access, members } = options;
  const path = '/api/repository/{repoID}';
  const findTarget = (caller: Caller, { repoID }: { repoID: string }) => directory.repository(caller, repoID);
  const find = (caller: Caller, parameters: { repoID: string }) => findTarget(caller, parameters).repository;
  const view = async (caller: Caller, repository: Repository) => {
    const [text, values, webhook] = await Promise.all([
      texts.read(repository),
      variables.list(repository, canReadValues(caller)),
      webhookView(cluster, repository, permits(caller.access, 'administer')),
    ]);
    return repositorySettingsView(repository, text, values, webhook);
  };

  return [
    endpoint({
      method: 'get',
      path: `${path}/settings`,
      summary: "Returns a repository's settings",
      find,
      writes: false,
      answer: repositorySettingsViewSchema,
      run: ({ caller, target }) => view(caller, target),
    }),
    endpoint({
      method: 'post',
      path: `${path}/settings`,
      summary: 'Changes the settings in the request; all others are unchanged',
      find: findTarget,
      writes: true,
      body: changeSettingsSchema,
      answer: repositorySettingsViewSchema,
      also: {
        403: 'The token does not permit this, or `access` is in the request and the caller is not an owner.',
        409: `${APPLIED_BY_OTHERS} ${TOO_MUCH_TEXT}`,
      },
      run: async ({ caller, target: { group, repository: target }, body }) => {
        if (changesAccess(body)) members.requireOwner(group, caller.user.email, 'change who can open environments');
        if (leavesScheduleWithoutHour(target, body)) throw scheduleWithoutHour();
        const inForce = await serviceFileInForce(target, body, texts);
        if (inForce) await requireUsable(checker, caller.user.accountId, inForce);
        if (body.serviceFile?.serviceFile !== undefined) caps.requireServiceFile(target, body.serviceFile.serviceFile);
        return view(caller, await repositories.changeSettings(target, body, access));
      },
    }),
    ...variableRoutes({ path, find, variables, caps }),
  ];
}

function scheduleWithoutHour(): Invalid {
  const details = [{ path: 'scheduledRebuild.hour', message: SCHEDULE_WITHOUT_HOUR }];
  return new Invalid(`scheduledRebuild.hour: ${SCHEDULE_WITHOUT_HOUR}`, { details });
}

/**
 * Returns what to enter at the Git host.
 * @param canSign whether to read and show the secret, with which its reader can sign deliveries as the Git host
 */
async function webhookView(
  cluster: Pick<ClusterWriter, 'find'>,
  repository: Repository,
  canSign: boolean,
): Promise<WebhookView | undefined> {
  const made = repository.status?.webhook;
  if (!made) return undefined;
  if (!canSign) return { url: made.url, secret: '', withheld: true, created: made.id !== undefined };
  const secret = await webhookSecret(cluster, repository);
  return secret === undefined ? undefined : { url: made.url, secret, created: made.id !== undefined };
}

/** Empty content adds nothing to the repository's file, but alone describes no services. @throws Invalid */
async function requireUsable(
  checker: ServiceFileChecker,
  user: string,
  { mode, content }: ServiceFileInForce,
): Promise<void> {
  if (content.trim() !== '') return requireYaml(checker, user, content);
  if (mode !== 'panel') return;
  const message = 'must not be empty if the mode is panel: the settings are then the only service file';
  throw new Invalid('the service file is empty', { details: [{ path: 'serviceFile.serviceFile', message }] });
}

/**
 * Checks only the syntax: the API does not read the repository, which contains the files that the service file names.
 * @throws Invalid
 */
async function requireYaml(checker: ServiceFileChecker, user: string, content: string): Promise<void> {
  const { errors } = await checker.check(user, {
    mode: 'panel',
    serviceFile: content,
    files: {},
    variables: [],
    patch: {},
  });
  if (errors.length === 0) return;
  const details = errors.map((error) => ({ path: 'serviceFile.serviceFile', message: formatProblem(error) }));
  throw new Invalid('the service file is not valid', { details });
}
