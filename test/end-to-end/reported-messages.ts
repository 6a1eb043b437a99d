import type { Harness } from './harness.ts';

/**
 * Returns everything that Coppice has written since a time where others than a credential's owner can read it: its
 * logs, Events, custom resources, and pods with their arguments and environment.
 */
export async function reportedMessages({ kubectl }: Pick<Harness, 'kubectl'>, since: Date) {
  const logs = (name: string) =>
    kubectl([
      ...['logs', '--namespace', 'coppice-system', '--selector', `app.kubernetes.io/name=${name}`],
      ...['--tail=-1', `--since-time=${since.toISOString()}`],
    ]);
  const objects = (kinds: string) => kubectl(['get', kinds, '--all-namespaces', '--output', 'json']);
  const resources = ['groups', 'repositories', 'environments', 'reusableenvironments'].map(
    (name) => `${name}.coppice.dev`,
  );
  const [operator, api, events, custom, pods] = await Promise.all([
    logs('coppice-operator'),
    logs('coppice-api'),
    objects('events'),
    objects(resources.join()),
    objects('pods,jobs'),
  ]);
  return { operator, api, events, custom, pods };
}

/** Returns the forms of a secret: as it is, in a URL, and in base64 after other text, such as a user name. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const encoded = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // The characters that only the secret's bytes determine.
    return text.slice(Math.ceil((offset * 4) / 3), Math.floor(((offset + bytes.length) * 4) / 3));
  });
  return [secret, encodeURIComponent(secret), ...encoded];
}
