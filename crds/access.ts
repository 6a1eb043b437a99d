import { z } from 'zod';
import { secretKeyRefSchema } from './variable.ts';

/** Who can open the web addresses of an environment, from everybody to the members of the group. */
export const ACCESS_MODES = ['public', 'password', 'members'] as const;
export type AccessMode = (typeof ACCESS_MODES)[number];

/** What the chart can set as the default: a password belongs to a Repository or an Environment. */
export const DEFAULT_ACCESS_MODES = ['public', 'members'] as const satisfies readonly AccessMode[];

/** How many people each mode keeps out, from none. */
const strictness = { public: 0, password: 1, members: 2 } as const satisfies Record<AccessMode, number>;

/** The fields of a Repository and of an Environment, whose own settings take precedence. */
export function accessFields(defaultsTo: string) {
  return {
    access: z
      .enum(ACCESS_MODES)
      .optional()
      .meta({
        description: `Who can open the web addresses: everybody, whoever knows \`accessPassword\`, or members of the group; defaults to ${defaultsTo}.`,
      }),
    accessPassword: z.object({ secretKeyRef: secretKeyRefSchema }).optional().meta({
      description:
        'The password for `access: password`: a key of a Secret in the namespace of the group, as plain text, or as the hash that the REST API stores.',
    }),
  };
}

type Settings = Partial<z.infer<ReturnType<typeof settingsOf>>>;
const settingsOf = () => z.object(accessFields(''));

/** What decides who can open an environment. */
export interface EffectiveAccess {
  mode: AccessMode;
  from: 'environment' | 'repository' | 'default';
  /** The password and whose setting it is; absent if none is set. */
  password?: { from: 'environment' | 'repository'; secretKeyRef: z.infer<typeof secretKeyRefSchema> };
}

/**
 * Returns who can open an environment. Without its Repository, whose setting is then unknown, only members can.
 * @param fallback the chart's default
 */
export function effectiveAccess(
  environment: Settings,
  repository: Settings | undefined,
  fallback: AccessMode,
): EffectiveAccess {
  const named = environment.accessPassword
    ? ({ from: 'environment', ...environment.accessPassword } as const)
    : repository?.accessPassword && ({ from: 'repository', ...repository.accessPassword } as const);
  const password = named && { password: named };
  if (environment.access) return { mode: environment.access, from: 'environment', ...password };
  if (repository?.access) return { mode: repository.access, from: 'repository', ...password };
  return { mode: repository ? fallback : 'members', from: 'default', ...password };
}

/** Returns whether access keeps out somebody whom the other lets in; two passwords are known to different people. */
export function isStricter(access: EffectiveAccess, other: EffectiveAccess): boolean {
  if (access.mode !== other.mode) return strictness[access.mode] > strictness[other.mode];
  if (access.mode !== 'password') return false;
  const [one, another] = [access.password?.secretKeyRef, other.password?.secretKeyRef];
  return one?.name !== another?.name || one?.key !== another?.key;
}

/**
 * Returns the setting of a new environment of a ref: the strictest one of its environments, so that whoever can create
 * one does not open the ref to more people. Empty where the Repository's setting is as strict.
 */
export function inheritedAccess(environments: readonly OwnAccess[], repository: Settings): Settings {
  // What the Repository does not set counts as public here, so that no environment becomes more open than it.
  const effective = environments.map(({ metadata, spec }) => ({
    metadata,
    access: effectiveAccess(spec, repository, 'public'),
  }));
  const [first] = effective.sort((one, other) => strictness[other.access.mode] - strictness[one.access.mode]);
  if (!first || !isStricter(first.access, effectiveAccess({}, repository, 'public'))) return {};
  const { mode, password } = first.access;
  if (mode !== 'password' || password?.from !== 'environment') return { access: mode };
  const { secretKeyRef } = password;
  // The password that the API stored belongs to that environment alone, and is deleted with it.
  if (secretKeyRef.name === accessSecretName(first.metadata)) return { access: 'members' };
  return { access: mode, accessPassword: { secretKeyRef } };
}

interface OwnAccess {
  metadata: { name: string; uid?: string | undefined };
  spec: Settings;
}

/** Returns the name of the Secret with the password that the API stores for a Repository or an Environment. */
export function accessSecretName({ name, uid = '' }: OwnAccess['metadata']): string {
  // The UID distinguishes the Secret from that of a deleted object of the same name.
  return `access-${name.slice(0, 200)}-${uid.slice(-8)}`;
}
