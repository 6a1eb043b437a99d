import type { CustomFetch } from 'openid-client';

/** Far from what providers answer: a token, a key set, a configuration. */
const maxBytes = 1024 * 1024;

/** Makes a fetch whose answers end with an error beyond 1 MiB: whoever answers must not choose how much memory that takes. */
export function boundedFetch(fetch: CustomFetch): CustomFetch {
  return async (url, options) => {
    const response = await fetch(url, options);
    if (response.body === null) return response;
    let bytes = 0;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > maxBytes) throw new Error(`the OpenID Connect provider answered more than ${maxBytes} bytes`);
        controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
  };
}
