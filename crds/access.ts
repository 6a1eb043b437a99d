import { z } from 'zod';
import { secretKeyRefSchema } from './variable.ts';

/** Who can open the web addresses of an environment, from everybody to the members of the group. */
export const ACCESS_MODES = ['public', 'password', 'members'] as const;
export type AccessMode = (typeof ACCESS_MODES)[number];

/** What the chart can set as the default: a password belongs to a Repository or an Environment. */
export const DEFAULT_ACCESS_MODES = ['public', 'members'] as const satisfies readonly AccessMode[];

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
