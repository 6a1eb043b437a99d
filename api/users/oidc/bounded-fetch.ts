import type { CustomFetch } from 'openid-client';

/** Much more than a provider's token, key set or configuration. */
const maxBytes = 1024 * 1024;

/**
 * Returns a fetch that fails when a response exceeds 1 MiB: the provider must not control how much memory a response
 * uses.
 */
export function boundedFetch(fetch: CustomFetch): CustomFetch {
  return async (url, options) => {
    const response = await fetch(url, options);
    if (response.body === null) return response;
    let bytes = 0;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > maxBytes) throw new Error(`the response of the OpenID Connect provider exceeds ${maxBytes} bytes`);
        controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
  };
}
