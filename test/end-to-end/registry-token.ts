import { z } from 'zod';
import { send } from '../client/local-http.ts';
import { IMAGES_HOST_ADDRESS } from '../cluster/registries/registry.ts';

const tokenSchema = z.object({ token: z.string() });

/**
 * Requests a token for the registry of built images as its challenge says, like every client: through the Ingress
 * controller, with an Authorization header.
 */
export async function registryToken(
  ingressUrl: string,
  authorization: string,
  scopes: readonly string[],
): Promise<string> {
  const { headers } = await send(`http://${IMAGES_HOST_ADDRESS}/v2/`);
  const [, realm = '', service = ''] =
    /realm="([^"]+)",service="([^"]+)"/.exec(headers['www-authenticate'] ?? '') ?? [];
  const { host, pathname } = new URL(realm);
  const url = new URL(pathname, ingressUrl);
  url.searchParams.set('service', service);
  for (const scope of scopes) url.searchParams.append('scope', scope);
  const answer = await send(url.href, { headers: { host, authorization } });
  if (answer.status !== 200) throw new Error(`the token server answers ${answer.status}: ${answer.text}`);
  return tokenSchema.parse(JSON.parse(answer.text)).token;
}
