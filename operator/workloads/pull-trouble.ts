const reasons = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull', 'ImageInspectError'];

/** By what container runtimes say, which hand on what registries do; the first that fits. */
const causes: readonly [RegExp, string][] = [
  [
    /too ?many ?requests|\b429\b/i,
    "its registry lets nobody pull more for now: wait, or name credentials in the repository's registry Secrets",
  ],
  [
    /unauthorized|authentication required|authorization failed|access denied|access to the resource is denied|\b40[13]\b|forbidden/i,
    "its registry refuses: see to its name, and name a Secret with credentials in the repository's registrySecrets",
  ],
  [
    /not found|manifest unknown|name unknown|does not exist|\b404\b/i,
    'there is no such image: see to its name and its tag',
  ],
  [/no match for platform|no matching manifest/i, "the image is not there for the nodes' platform"],
  [
    /no such host|dial tcp|i\/o timeout|connection refused|connection reset|TLS handshake|x509|deadline exceeded/i,
    'its registry does not answer: see to its name; if that is right, have an administrator look',
  ],
  [/no space left/i, "the node's disk is full: have an administrator look"],
];

/** Why a container's image is not there, in words to act on; undefined when that is not what it waits for. */
export function pullTrouble(image: string, reason: string, message: string): string | undefined {
  if (!reasons.includes(reason)) return undefined;
  const said = message === '' ? '' : ` (${endOf(message)})`;
  if (reason === 'InvalidImageName') return `its image ${image} has no valid name: mend it${said}`;
  const cause = causes.find(([pattern]) => pattern.test(message))?.[1] ?? 'see to its name and its registry';
  return `its image ${image} cannot be pulled: ${cause}${said}`;
}

/** Each layer of the runtime puts its own words before what the one below said: the last ones count. */
function endOf(message: string): string {
  const parts = message.split(': ');
  let end = parts.pop() ?? '';
  while (parts.length > 0 && end.length < 80) end = `${parts.pop() ?? ''}: ${end}`;
  return end.slice(-300);
}
