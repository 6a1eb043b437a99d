const reasons = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull', 'ImageInspectError'];

/** By what container runtimes say, which hand on what registries do; the first that fits. */
const causes: readonly [RegExp, string][] = [
  [
    /too ?many ?requests|\b429\b/i,
    "its registry limits pulls. Wait, or add credentials to the repository's registry Secrets",
  ],
  [
    /unauthorized|authentication required|authorization failed|access denied|access to the resource is denied|\b40[13]\b|forbidden/i,
    "its registry denies access. Check its name, and add a Secret with credentials to the repository's registrySecrets",
  ],
  [
    /not found|manifest unknown|name unknown|does not exist|\b404\b/i,
    'the image does not exist. Check its name and its tag',
  ],
  [/no match for platform|no matching manifest/i, "the image does not exist for the nodes' platform"],
  [
    /no such host|dial tcp|i\/o timeout|connection refused|connection reset|TLS handshake|x509|deadline exceeded/i,
    'its registry does not respond. Check its name; if it is correct, ask an administrator',
  ],
  [/no space left/i, "the node's disk is full. Ask an administrator"],
];

/** Why a container's image is not there, in words to act on; undefined when that is not what it waits for. */
export function imagePullDiagnosis(image: string, reason: string, message: string): string | undefined {
  if (!reasons.includes(reason)) return undefined;
  const detail = message === '' ? '' : ` (${endOf(message)})`;
  if (reason === 'InvalidImageName') return `its image ${image} has an invalid name. Correct it${detail}`;
  const cause = causes.find(([pattern]) => pattern.test(message))?.[1] ?? 'check its name and its registry';
  return `its image ${image} cannot be pulled: ${cause}${detail}`;
}

/** Each layer of the runtime puts its own words before what the one below said: the last ones count. */
function endOf(message: string): string {
  const parts = message.split(': ');
  let end = parts.pop() ?? '';
  while (parts.length > 0 && end.length < 80) end = `${parts.pop() ?? ''}: ${end}`;
  return end.slice(-300);
}
