import type { HttpAnswer, HttpRequest, Send } from '../../../source/network/send.ts';

export interface FakeAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Returns a Send for tests, with responses by `METHOD URL`, which records the requests. */
export function fakeSend(answers: (asked: string, request: HttpRequest) => FakeAnswer | undefined) {
  const seen: { asked: string; authorization: string | undefined }[] = [];
  const send: Send = (request): Promise<HttpAnswer> => {
    const asked = `${request.method} ${request.url.href}`;
    seen.push({ asked, authorization: request.headers['authorization'] });
    const answer = answers(asked, request);
    if (!answer) return Promise.reject(new Error('connect ECONNREFUSED'));
    const { status = 200, headers = {}, body = '' } = answer;
    return Promise.resolve({ status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
  };
  return { send, seen };
}
