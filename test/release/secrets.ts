const names = ['REGISTRY_USERNAME', 'REGISTRY_PASSWORD', 'COSIGN_PRIVATE_KEY', 'COSIGN_PASSWORD'] as const;

export type ReleaseSecrets = Partial<Record<(typeof names)[number], string>>;

/**
 * Returns the secrets of a release, and removes them from the environment: programs that compile, list or archive do not
 * inherit them.
 */
export function takeSecrets(environment: NodeJS.ProcessEnv): ReleaseSecrets {
  const secrets: ReleaseSecrets = {};
  for (const name of names) {
    const value = environment[name];
    if (value !== undefined) secrets[name] = value;
    Reflect.deleteProperty(environment, name);
  }
  return secrets;
}
