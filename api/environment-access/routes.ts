import { z } from 'zod';
import { madeAtOf } from '../../crds/ended-links.ts';
import { ENVIRONMENT } from '../../crds/environment.ts';
import type { Group } from '../../crds/group.ts';
import type { AccessKey } from '../../environment-access/keys.ts';
import { MAX_VALIDITY_SECONDS } from '../../environment-access/keys.ts';
import { ACCESS_HEADER, openAccess, sealAccess, type Grant } from '../../environment-access/tokens.ts';
import type { Caller } from '../auth/caller.ts';
import type { Sessions } from '../auth/sessions.ts';
import { canSee, type Directory } from '../auth/visibility.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { isBeingDeleted } from '../cluster/deletion.ts';
import { APPLIED_BY_OTHERS, requireNotApplied } from '../cluster/ownership.ts';
import { updateChecked } from '../cluster/update-checked.ts';
import { environmentView, type WebAddress } from '../environments/environment-view.ts';
import { environmentViewSchema } from '../environments/environment-view-schema.ts';
import { endpoint, nothing, openEndpoint, type Endpoint } from '../http/endpoint.ts';
import { integerField } from '../http/parse.ts';
import { Conflict, Invalid, NotFound, Unauthorized, Unavailable } from '../shared/errors.ts';
import { NO_SUCH_ENVIRONMENT } from '../shared/messages.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import { apiTokenId, findApiToken } from '../user-records/api-token.ts';
import { accessChange, changesAccess, type AccessSettings } from './access-settings.ts';
import { allEnded, endLinksSchema, namedLink, oneEnded } from './end-links.ts';
import type { AccessCodes } from './codes.ts';
import type { AccessTarget, EnvironmentHosts } from './hosts.ts';
import type { AccessPasswords } from './passwords.ts';
import { entryPath, isReturnPath, type Visit } from './paths.ts';

const daySeconds = 24 * 3600;

const pathField = z.string().refine(isReturnPath, { error: 'must be a path of the environment, such as /' });
const visitFields = {
  host: z.string().max(253).toLowerCase().meta({ description: 'Host of the environment.' }),
  path: pathField.meta({ description: 'Path to return to.' }),
  challenge: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/, { error: 'must be a SHA-256 in base64url' })
    .meta({ description: 'SHA-256 of the secret that the environment has set in a cookie, in base64url.' }),
};
const redirectSchema = z
  .object({ redirect: z.string().meta({ description: 'Address on the host of the environment, valid once.' }) })
  .meta({ id: 'EnvironmentVisit' });
export type EnvironmentVisit = z.infer<typeof redirectSchema>;

const changeSchema = z
  .object(accessChange)
  .refine(changesAccess, { error: 'needs one of access and accessPassword' })
  // For the OpenAPI document, which cannot express the refinement.
  .meta({ minProperties: 1 });

const shareSchema = z.object({
  seconds: integerField(60, MAX_VALIDITY_SECONDS).default(daySeconds).meta({ description: 'How long it is valid.' }),
  path: pathField.default('/').meta({ description: 'Path that the link opens.' }),
});

const sharedViewSchema = z
  .object({
    url: z.string().meta({ description: 'Opens the environment in a browser.' }),
    header: z.string().meta({ description: 'Name of the header with which programs send the token.' }),
    token: z.string(),
    id: z.string().meta({ description: 'Identifies the link to those who end it; opens nothing.' }),
    expiresAt: z.int().meta({ description: 'In Unix seconds.' }),
  })
  .meta({ id: 'SharedEnvironment', description: 'Access to one environment without a login.' });
export type SharedView = z.infer<typeof sharedViewSchema>;

export interface AccessRoutesOptions {
  directory: Pick<Directory, 'environment'>;
  hosts: EnvironmentHosts;
  settings: AccessSettings;
  passwords: Pick<AccessPasswords, 'verify'>;
  codes: Pick<AccessCodes, 'issue'>;
  sessions: Pick<Sessions, 'nameOf'>;
  /** Counts attempts to enter the password of an environment, by its UID. @throws TooManyRequests */
  attempts: { countAccess: (environment: string) => Promise<void> };
  /** Checks that the caller owns the group. @throws Forbidden */
  members: { requireOwner: (group: Group, actor: string, what: string) => void };
  cluster: ClusterWriter;
  cache: Pick<Caches['environments'], 'observe'>;
  keys: () => readonly AccessKey[];
  webAddress: WebAddress;
  now: () => number;
  randomBytes: RandomBytes;
}

/** Returns the routes (extensions) that decide and grant access to environments. */
export function accessRoutes(options: AccessRoutesOptions): Endpoint[] {
  const {
    directory,
    hosts,
    settings,
    passwords,
    codes,
    sessions,
    attempts,
    members,
    cluster,
    cache,
    keys,
    now,
    randomBytes,
  } = options;
  const path = '/api/environment/{environmentID}';
  const find = (caller: Caller, { environmentID }: { environmentID: string }) =>
    directory.environment(caller, environmentID);
  const returning = async (
    { host, path: to, challenge }: Visit,
    { environment, access }: AccessTarget,
    grant: Grant,
  ) => {
    if (access.mode === 'public') return { redirect: hosts.urlOf(host, to) };
    const code = await codes.issue({ host, environment: environment.metadata.uid ?? '', path: to, grant }, challenge);
    return { redirect: hosts.urlOf(host, entryPath({ code })) };
  };

  /** Returns what is known about a link; only its token shows who made it. */
  const findLink = (text: string, environment: string | undefined) => {
    const named = namedLink(text);
    if ('id' in named) return { id: named.id };
    const claims = openAccess(named.token, keys(), Math.floor(now() / 1000));
    if (claims?.grant.kind !== 'link' || claims.environment !== environment) return undefined;
    return { id: claims.grant.id, expiresAt: claims.expiresAt, maker: claims.grant };
  };

  return [
    openEndpoint({
      method: 'post',
      path: '/api/access/password',
      summary: 'Enters an environment with its password (extension)',
      body: z.object({ ...visitFields, password: z.string().max(200) }),
      answer: redirectSchema,
      also: { 401: 'The password is wrong, or the environment has none.' },
      run: async ({ body: { password, ...visit } }) => {
        const target = hosts.find(visit.host);
        await attempts.countAccess(target?.environment.metadata.uid ?? visit.host);
        const secret = await passwords.verify(target, password);
        if (!target || secret === undefined) {
          throw new Unauthorized('the password is wrong, or the environment has none. Try again');
        }
        return returning(visit, target, { kind: 'password', secret });
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/access/login',
      summary: "Enters an environment of the caller's groups (extension)",
      find: nothing,
      writes: true,
      isOfAccount: true,
      needsLogin: true,
      body: z.object(visitFields),
      answer: redirectSchema,
      run: ({ caller: { user, credential }, body: visit }) => {
        const target = hosts.find(visit.host);
        if (!target || !canSee(user, target.group)) throw new NotFound(NO_SUCH_ENVIRONMENT);
        const session = sessions.nameOf(credential.token);
        return returning(visit, target, { kind: 'member', user: user.name, account: user.accountId, session });
      },
    }),
    endpoint({
      method: 'post',
      path: `${path}/access`,
      summary: 'Changes who can open an environment (extension)',
      description: 'Takes precedence over the setting of the repository.',
      find,
      permit: ({ user }, { group }) => members.requireOwner(group, user.email, 'change who can open environments'),
      writes: true,
      body: changeSchema,
      answer: environmentViewSchema,
      also: { 403: 'The token does not permit this, or the caller is not an owner.', 409: APPLIED_BY_OTHERS },
      run: async ({ target: { group, environment }, body }) => {
        if (isBeingDeleted(environment)) throw new Conflict('the environment is being deleted');
        const { after } = await settings.change(environment, body, (spec) =>
          updateChecked(cluster, cache, ENVIRONMENT, environment, (current) => {
            requireNotApplied(current, spec);
            return { spec };
          }),
        );
        return environmentView(group, after, options.webAddress);
      },
    }),
    endpoint({
      method: 'post',
      path: `${path}/share`,
      summary: 'Returns a link and a token that open an environment for a time (extension)',
      description:
        'They end with their time, and when the account that made them no longer sees the environment; those of an API token also when it is deleted or expires.',
      find,
      writes: true,
      needs: 'operate',
      body: shareSchema,
      answer: sharedViewSchema,
      also: { 409: 'The environment is open to everybody, or has no web address.' },
      run: ({ caller: { user, apiToken, credential }, target: { environment }, body }) => {
        const target = hosts.targetOf(environment);
        if (!target || environment.status?.webURL === undefined) {
          throw new Conflict(
            'the environment has no web address. Build it, and give one of its services a public port',
          );
        }
        if (target.access.mode === 'public') {
          throw new Conflict(`everybody can open this environment: share its address, ${environment.status.webURL}`);
        }
        const at = Math.floor(now() / 1000);
        const made = apiToken === undefined ? undefined : findApiToken(user.apiTokens ?? [], credential.token, now());
        if (apiToken !== undefined && !made) throw new Unauthorized('the API token has just expired or been deleted');
        const expiresAt = Math.min(at + body.seconds, made ? Math.floor(Date.parse(made.expiresOn) / 1000) : Infinity);
        const grant = {
          kind: 'link' as const,
          ...{ user: user.name, account: user.accountId },
          ...(made && { apiToken: apiTokenId(made) }),
          id: randomBytes(12).toString('base64url'),
          madeAt: madeAtOf(at, environment.spec.endedLinks),
        };
        const uid = environment.metadata.uid ?? '';
        if (keys().length === 0) throw new Unavailable('links cannot be made yet, because their key is missing');
        const token = sealAccess({ use: 'environment', host: '', environment: uid, grant, expiresAt }, keys(), at);
        const host = new URL(environment.status.webURL).hostname;
        return {
          url: hosts.urlOf(host, entryPath({ token, path: body.path })),
          header: ACCESS_HEADER,
          token,
          id: grant.id,
          expiresAt,
        };
      },
    }),
    endpoint({
      method: 'post',
      path: `${path}/share/end`,
      summary: 'Ends one link, or all of an environment, before their time (extension)',
      description:
        'Visits by these links end, too. Owners can end every link, other members those that they have made.',
      find,
      writes: true,
      needs: 'operate',
      body: endLinksSchema,
      answer: environmentViewSchema,
      also: {
        403: 'The token does not permit this, or the link is not of the caller, who is not an owner.',
        409: APPLIED_BY_OTHERS,
      },
      run: async ({ caller: { user }, target: { group, environment }, body: { link } }) => {
        const ended = link === undefined ? undefined : findLink(link, environment.metadata.uid);
        const isOwn = ended?.maker?.user === user.name && ended.maker.account === user.accountId;
        if (!isOwn) members.requireOwner(group, user.email, 'end links of other members');
        if (link !== undefined && ended?.id === undefined) {
          throw new Invalid('this is not a link of the environment that can be ended by itself', {
            details: [{ path: 'link', message: 'must be a valid link of this environment, its token, or its ID' }],
          });
        }
        const { after } = await updateChecked(cluster, cache, ENVIRONMENT, environment, (current) => {
          const at = new Date(now());
          const endedLinks =
            ended?.id === undefined
              ? allEnded(at)
              : oneEnded(current.spec.endedLinks ?? {}, ended.id, ended.expiresAt, at);
          requireNotApplied(current, { endedLinks });
          return { spec: { endedLinks } };
        });
        return environmentView(group, after, options.webAddress);
      },
    }),
  ];
}
