const reasons = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull', 'ImageInspectError'];

/** Causes by error messages of container runtimes, which include those of registries; the first match counts. */
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

/**
 * Returns why a container's image cannot be pulled, and what to do; undefined if the container waits for something
 * else.
 */
export function imagePullDiagnosis(image: string, reason: string, message: string): string | undefined {
  if (!reasons.includes(reason)) return undefined;
  const detail = message === '' ? '' : ` (${endOf(message)})`;
  if (reason === 'InvalidImageName') return `its image ${image} has an invalid name. Correct it${detail}`;
  const cause = causes.find(([pattern]) => pattern.test(message))?.[1] ?? 'check its name and its registry';
  return `its image ${image} cannot be pulled: ${cause}${detail}`;
}

/**
 * Returns the last part of the message: each layer of the runtime prepends its own text to the message of the layer
 * below.
 */
function endOf(message: string): string {
  const parts = message.split(': ');
  let end = parts.pop() ?? '';
  while (parts.length > 0 && end.length < 80) end = `${parts.pop() ?? ''}: ${end}`;
  return end.slice(-300);
}
