import { repositorySpecSchema, type Repository } from '../../../crds/repository.ts';

type Webhook = NonNullable<NonNullable<Repository['status']>['webhook']>;
export type WebhookLocation = NonNullable<Webhook['location']>;

/** What of a source says how it is reached, and not where it is. */
const accessFields = ['credentialsSecret', 'knownHosts'];
/** Where they differ the host is another one, which must not see these credentials. */
const hostFields = ['type', 'instanceUrl', 'orgUrl'];

/** Where a Repository's webhook is made: its type, and the fields of its source that name the place. */
export function webhookLocation({ spec }: Repository): WebhookLocation {
  const source = Object.entries(spec[spec.type] ?? {}).filter(([field]) => !accessFields.includes(field));
  return { type: spec.type, ...Object.fromEntries(source) };
}

export function isSameLocation(one: WebhookLocation, other: WebhookLocation): boolean {
  return [...Object.keys(one), ...Object.keys(other)].every((field) => one[field] === other[field]);
}

/** The Repository as if it were at the place with its credentials of now; undefined at another host. */
export function repositoryAt(repository: Repository, location: WebhookLocation): Repository | undefined {
  const { spec } = repository;
  const now = webhookLocation(repository);
  if (!hostFields.every((field) => location[field] === now[field])) return undefined;
  const source = Object.fromEntries(Object.entries(location).filter(([field]) => field !== 'type'));
  const there = repositorySpecSchema.safeParse({ ...spec, [spec.type]: { ...spec[spec.type], ...source } });
  return there.success ? { ...repository, spec: there.data } : undefined;
}
